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
  if (weights.size <= most) return { drawn: new Set(weights.keys()), weights };
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
// together. It begins on a spiral, so the same graph always looks the same. What is far away pushes
// as one (Barnes and Hut, 1986): a round takes n log n steps, and a graph of thousands can be
// placed round by round while it is looked at.
//   const layout = beginLayout(count, edges)   edges: pairs of node numbers
//   while (layout.round < ROUNDS) nextRound(layout)
// leaves the places in layout.xs and layout.ys, about -1 to 1.
const ROUNDS = 300;
const GRAVITY = 4; // with less of it, a long chain leaves no room for the rest
const FAR = 0.9; // a square is far if it is seen under less than this angle

function beginLayout(count, edges) {
  const xs = new Float64Array(count);
  const ys = new Float64Array(count);
  for (let node = 0; node < count; node++) {
    const radius = Math.sqrt((node + 0.5) / count);
    const angle = node * Math.PI * (3 - Math.sqrt(5));
    xs[node] = radius * Math.cos(angle);
    ys[node] = radius * Math.sin(angle);
  }
  const degrees = new Array(count).fill(0);
  for (const node of edges.flat()) degrees[node]++;
  return { xs, ys, edges, degrees, distance: Math.sqrt(1 / Math.max(count, 1)), round: 0 };
}

function nextRound(layout) {
  const { xs, ys, edges, degrees, distance } = layout;
  const forces = pushes(layout);
  for (let node = 0; node < xs.length; node++) {
    forces.xs[node] -= GRAVITY * xs[node] * distance;
    forces.ys[node] -= GRAVITY * ys[node] * distance;
  }
  for (const [a, b] of edges) {
    const [dx, dy] = [xs[b] - xs[a], ys[b] - ys[a]];
    // Between two nodes with many edges each, an edge pulls less: else all of them fall together.
    const pull = Math.hypot(dx, dy) / distance / Math.min(degrees[a], degrees[b]);
    forces.xs[a] += dx * pull;
    forces.ys[a] += dy * pull;
    forces.xs[b] -= dx * pull;
    forces.ys[b] -= dy * pull;
  }
  const longestStep = 0.12 * (1 - layout.round / ROUNDS);
  for (let node = 0; node < xs.length; node++) {
    const force = Math.hypot(forces.xs[node], forces.ys[node]) || 1e-6;
    const step = Math.min(1, longestStep / force);
    xs[node] += forces.xs[node] * step;
    ys[node] += forces.ys[node] * step;
  }
  layout.round++;
}

// The force by which all others push each node away.
function pushes({ xs, ys, distance }) {
  const forces = { xs: new Float64Array(xs.length), ys: new Float64Array(xs.length) };
  if (xs.length < 2) return forces;
  const tree = treeOfSquares(xs, ys);
  const waiting = [];
  for (let node = 0; node < xs.length; node++) {
    waiting.push(0);
    while (waiting.length) {
      const square = waiting.pop();
      const dx = tree.xs[square] - xs[node];
      const dy = tree.ys[square] - ys[node];
      const squaredDistance = Math.max(dx * dx + dy * dy, 1e-12);
      const inner = tree.children[square];
      if (inner !== null && tree.sides[square] ** 2 >= FAR ** 2 * squaredDistance) {
        for (const child of inner) waiting.push(child);
        continue;
      }
      const others = tree.counts[square] - (tree.holds[square].includes(node) ? 1 : 0);
      const push = (others * distance ** 2) / squaredDistance;
      forces.xs[node] -= dx * push;
      forces.ys[node] -= dy * push;
    }
  }
  return forces;
}

// Squares in squares, each with how many nodes lie in it and their middle (xs, ys). A square with
// one node, or with several in one place, has no inner ones.
function treeOfSquares(xs, ys) {
  const DEEPEST = 24;
  const tree = { xs: [], ys: [], counts: [], sides: [], holds: [], children: [] };
  function addSquare(nodes, left, top, side, depth) {
    const number = tree.counts.length;
    tree.xs.push(nodes.reduce((sum, node) => sum + xs[node], 0) / nodes.length);
    tree.ys.push(nodes.reduce((sum, node) => sum + ys[node], 0) / nodes.length);
    tree.counts.push(nodes.length);
    tree.sides.push(side);
    tree.holds.push(nodes);
    tree.children.push(null);
    if (nodes.length === 1 || depth === DEEPEST) return number;
    tree.holds[number] = [];
    const half = side / 2;
    const quarters = [[], [], [], []];
    for (const node of nodes)
      quarters[(xs[node] >= left + half ? 1 : 0) + (ys[node] >= top + half ? 2 : 0)].push(node);
    tree.children[number] = [];
    quarters.forEach((inside, quarter) => {
      if (!inside.length) return;
      const [x, y] = [left + (quarter & 1) * half, top + (quarter >> 1) * half];
      tree.children[number].push(addSquare(inside, x, y, half, depth + 1));
    });
    return number;
  }
  let [left, top, right, bottom] = [xs[0], ys[0], xs[0], ys[0]];
  for (let node = 1; node < xs.length; node++) {
    left = Math.min(left, xs[node]);
    right = Math.max(right, xs[node]);
    top = Math.min(top, ys[node]);
    bottom = Math.max(bottom, ys[node]);
  }
  const side = Math.max(right - left, bottom - top, 1e-9);
  addSquare([...xs.keys()], left, top, side, 0);
  return tree;
}

// The middle of a bent edge from a to b (the point that a quadratic curve is drawn by): a little to
// the left of the straight line.
function bendPoint(ax, ay, bx, by, bend) {
  return [(ax + bx) / 2 - (by - ay) * bend, (ay + by) / 2 + (bx - ax) * bend];
}

// Which of some boxes {x, y, width, height} (by their middles) can stand together: each one that
// overlaps none of those before it. Only boxes of neighbouring fields are compared.
function standingFree(boxes) {
  const FIELD = 64;
  const fields = new Map();
  return boxes.map((box) => {
    const near = [];
    const column = (x) => Math.floor(x / FIELD);
    for (let x = column(box.x - box.width / 2); x <= column(box.x + box.width / 2); x++) {
      for (let y = column(box.y - box.height / 2); y <= column(box.y + box.height / 2); y++) {
        const key = `${x} ${y}`;
        if (!fields.has(key)) fields.set(key, []);
        near.push(fields.get(key));
      }
    }
    const free = near.every((field) =>
      field.every(
        (other) =>
          Math.abs(box.x - other.x) * 2 >= box.width + other.width ||
          Math.abs(box.y - other.y) * 2 >= box.height + other.height,
      ),
    );
    if (free) for (const field of near) field.push(box);
    return free;
  });
}
