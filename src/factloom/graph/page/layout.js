"use strict";

// The entities to draw where there are too many: the one with most relations, then again and again
// the one with most relations to those that are there, so that what is drawn hangs together.
function entitiesToDraw(relations, most) {
  const weights = new Map();
  const neighbours = new Map();
  for (const { head, tail } of relations.filter((relation) => relation.head !== relation.tail)) {
    for (const [one, other] of [
      [head, tail],
      [tail, head],
    ]) {
      weights.set(one, (weights.get(one) ?? 0) + 1);
      if (!neighbours.has(one)) neighbours.set(one, []);
      neighbours.get(one).push(other);
    }
  }
  const links = new Map([...weights.keys()].map((entity) => [entity, 0]));
  const drawn = new Set();
  while (links.size && drawn.size < most) {
    let best = null;
    for (const [entity, count] of links) {
      const ahead =
        best === null || count - links.get(best) || weights.get(entity) - weights.get(best);
      if (ahead === true || ahead > 0) best = entity;
    }
    links.delete(best);
    drawn.add(best);
    for (const other of neighbours.get(best)) {
      if (links.has(other)) links.set(other, links.get(other) + 1);
    }
  }
  return { drawn, weights };
}

// Places the nodes of a graph in the plane by springs (Fruchterman and Reingold, 1991): all nodes
// push each other away, the ends of an edge pull, and a weak pull to the middle keeps the parts
// together. It begins on a spiral, so the same graph always looks the same.
// `edges` are pairs of node numbers; gives back an array of [x, y] in about -1 to 1.
function springLayout(count, edges) {
  const GRAVITY = 4; // with less of it, a long chain leaves no room for the rest
  const distance = Math.sqrt(1 / Math.max(count, 1));
  const places = Array.from({ length: count }, (_, node) => {
    const radius = Math.sqrt((node + 0.5) / count);
    const angle = node * Math.PI * (3 - Math.sqrt(5));
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });
  const degrees = new Array(count).fill(0);
  for (const node of edges.flat()) degrees[node]++;
  const rounds = 300;
  for (let round = 0; round < rounds; round++) {
    const forces = places.map(([x, y]) => [-GRAVITY * x * distance, -GRAVITY * y * distance]);
    const pull = (a, b, strength) => {
      const dx = places[b][0] - places[a][0];
      const dy = places[b][1] - places[a][1];
      const size = strength(Math.hypot(dx, dy) || 1e-6);
      forces[a][0] += dx * size;
      forces[a][1] += dy * size;
      forces[b][0] -= dx * size;
      forces[b][1] -= dy * size;
    };
    for (let a = 0; a < count; a++) {
      for (let b = a + 1; b < count; b++) pull(a, b, (far) => -((distance / far) ** 2));
    }
    // Between two nodes with many edges each, an edge pulls less: else all of them fall together.
    for (const [a, b] of edges)
      pull(a, b, (far) => far / distance / Math.min(degrees[a], degrees[b]));
    const longestStep = 0.12 * (1 - round / rounds);
    places.forEach((place, node) => {
      const [dx, dy] = forces[node];
      const step = Math.min(1, longestStep / (Math.hypot(dx, dy) || 1e-6));
      place[0] += dx * step;
      place[1] += dy * step;
    });
  }
  return places;
}

// The points of a curve from a to b that bends to its left.
function bentLine([ax, ay], [bx, by], bend) {
  const middle = [(ax + bx) / 2 - (by - ay) * bend, (ay + by) / 2 + (bx - ax) * bend];
  const xs = [];
  const ys = [];
  for (let step = 0; step <= 16; step++) {
    const t = step / 16;
    const [a, m, b] = [(1 - t) ** 2, 2 * t * (1 - t), t ** 2];
    xs.push(a * ax + m * middle[0] + b * bx);
    ys.push(a * ay + m * middle[1] + b * by);
  }
  return [xs, ys];
}

// Which of some boxes {x, y, width, height} (by their middles) can stand together: each one that
// overlaps none of those before it.
function standingFree(boxes) {
  const standing = [];
  return boxes.map((box) => {
    const free = standing.every(
      (other) =>
        Math.abs(box.x - other.x) * 2 >= box.width + other.width ||
        Math.abs(box.y - other.y) * 2 >= box.height + other.height,
    );
    if (free) standing.push(box);
    return free;
  });
}
