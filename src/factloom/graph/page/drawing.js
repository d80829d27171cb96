"use strict";

// The drawn graph, on a canvas. Knows nodes and edges and nothing of documents:
//   drawing.show(nodes, edges)   nodes: {key, name, hue, weight}; edges: {head, tail, label} (keys)
//   drawing.light(key)           lights up one node, or none
//   drawing.choose(head, tail)   marks one edge, or none
//   drawing.fit()                the smallest view that holds all
// and calls `onEdge(head, tail)`, `onNode(key)`, `onHover(key or null)`.
//
// A small graph is placed before it is drawn. A large one is placed while it is drawn, some
// milliseconds of each frame, so that the page answers meanwhile; as long as it moves, it is drawn
// with few names and no arrows. What stands out is drawn on a second canvas above: pointing at
// things draws that alone.
// Drag moves a node or the view, wheel and two fingers zoom, a double click fits; so do arrows,
// + and -, and 0 where it has the focus.
function makeDrawing(element, { onEdge, onNode, onHover }) {
  const LONGEST_NAME = 32; // characters; pointing at it shows all of it
  const PLACED_AT_ONCE = 250; // nodes
  const MOST_FULL_SIZED = 150; // more nodes than these are smaller, to leave room between them
  const MILLISECONDS_A_FRAME = 10; // for the places of larger graphs
  const MOST_NAMES = 400; // that are tried at a time: beyond, there is no room anyway
  const MOST_NAMES_MOVING = 40; // of a large graph that moves
  const STILL_AFTER = 200; // milliseconds without a movement
  const MOST_ARROWS = 2000; // edges in view that have one
  const NEAR = 7; // pixels from an edge that count as on it
  const MARGIN = [75, 40]; // pixels around the graph, for names
  const COLOURS = ["ink", "edge", "accent", "panel"];

  const ground = make("canvas", {});
  const canvas = make("canvas", { tabIndex: 0 }); // above: what stands out, pointers and keys
  ground.setAttribute("aria-hidden", "true");
  element.classList.add("drawing");
  refill(element, [ground, canvas]);
  const below = ground.getContext("2d");
  const above = canvas.getContext("2d");
  let width = 0; // of the pane, in pixels of the page
  let height = 0;
  let nodes = [];
  let edges = [];
  let layout = beginLayout(0, []);
  let lit = null;
  let chosen = null;
  let pointed = null; // {node} or {edge} under the pointer, and where that is
  const places = new Map(); // of nodes that were shown, by their keys
  let isOwnView = false; // the user has moved or zoomed: it stays so
  const view = { x: 0, y: 0, across: 1, down: 1 }; // the middle, and pixels a unit
  const colours = {};

  // --- what is shown -------------------------------------------------------------------------

  function show(newNodes, newEdges) {
    keepPlaces();
    const most = Math.max(1, ...newNodes.map((node) => node.weight));
    const number = new Map(newNodes.map((node, index) => [node.key, index]));
    const pairs = new Set(newEdges.map((edge) => `${edge.head}\n${edge.tail}`));
    const share = Math.max(0.4, Math.min(1, Math.sqrt(MOST_FULL_SIZED / newNodes.length)));
    const sizeOf = ({ weight }) => share * (11 + 13 * Math.sqrt(weight / most));
    nodes = newNodes.map((node) => ({ ...node, size: sizeOf(node) }));
    edges = newEdges.map((edge) => ({
      ...edge,
      from: number.get(edge.head),
      to: number.get(edge.tail),
      bend: pairs.has(`${edge.tail}\n${edge.head}`) ? 0.12 : 0.03, // opposite edges part
    }));
    layout = beginLayout(
      nodes.length,
      edges.map(({ from, to }) => [from, to]),
    );
    pointed = null;
    isOwnView = false;
    beginWhereTheyWere();
    if (nodes.length <= PLACED_AT_ONCE) while (layout.round < ROUNDS) nextRound(layout);
    element.setAttribute("aria-busy", String(layout.round < ROUNDS));
    fit();
  }

  // Nodes that were shown stay: all in their places where none is new, else about there.
  function beginWhereTheyWere() {
    const still = nodes.filter((node) => places.has(node.key)).length;
    if (still < nodes.length / 4) {
      places.clear();
      return;
    }
    nodes.forEach((node, index) => {
      const place = places.get(node.key);
      if (place) [layout.xs[index], layout.ys[index]] = place;
    });
    layout.round = still === nodes.length ? ROUNDS : ROUNDS / 2;
  }

  function keepPlaces() {
    nodes.forEach((node, index) => places.set(node.key, [layout.xs[index], layout.ys[index]]));
  }

  function light(key) {
    if (key === lit) return;
    lit = key;
    askForFrame(false);
  }

  function choose(head, tail) {
    chosen = head === null ? null : { head, tail };
    askForFrame(false);
  }

  const touches = (edge, key) => key !== null && (edge.head === key || edge.tail === key);
  const isChosen = (edge) =>
    chosen !== null && edge.head === chosen.head && edge.tail === chosen.tail;
  const isBright = (edge) => isChosen(edge) || touches(edge, lit);
  const standsOut = (node) => node.key === lit || (chosen !== null && touches(chosen, node.key));

  // --- the view ------------------------------------------------------------------------------

  const toScreen = (x, y) => [
    width / 2 + (x - view.x) * view.across,
    height / 2 + (y - view.y) * view.down,
  ];
  const toPlane = (x, y) => [
    view.x + (x - width / 2) / view.across,
    view.y + (y - height / 2) / view.down,
  ];

  // Panes are wide or high: all of it is used, as long as nothing is stretched too much.
  function fit() {
    const LONGEST_STRETCH = 2;
    const [low, high] = [smallest(layout.xs, layout.ys), largest(layout.xs, layout.ys)];
    const spread = [0, 1].map((axis) => Math.max(high[axis] - low[axis], 0.3));
    const across = Math.max(width - 2 * MARGIN[0], 50) / spread[0];
    const down = Math.max(height - 2 * MARGIN[1], 50) / spread[1];
    view.across = Math.min(across, LONGEST_STRETCH * down);
    view.down = Math.min(down, LONGEST_STRETCH * across);
    view.x = (low[0] + high[0]) / 2;
    view.y = (low[1] + high[1]) / 2;
    isOwnView = false;
    askForFrame();
  }

  function smallest(...axes) {
    return axes.map((values) => (values.length ? values.reduce((a, b) => Math.min(a, b)) : 0));
  }

  function largest(...axes) {
    return axes.map((values) => (values.length ? values.reduce((a, b) => Math.max(a, b)) : 0));
  }

  function zoom(factor, x, y) {
    const [planeX, planeY] = toPlane(x, y);
    view.across *= factor;
    view.down *= factor;
    view.x = planeX - (x - width / 2) / view.across;
    view.y = planeY - (y - height / 2) / view.down;
    isOwnView = true;
    noteMovement();
    askForFrame();
  }

  function move(right, down) {
    view.x -= right / view.across;
    view.y -= down / view.down;
    isOwnView = true;
    noteMovement();
    askForFrame();
  }

  // --- painting ------------------------------------------------------------------------------

  let isAsked = false;
  let isGroundAsked = false;
  let movedAt = -Infinity;
  let stillness = null;

  // `all`: the ground too, else what stands out alone.
  function askForFrame(all = true) {
    isGroundAsked ||= all;
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      const isAll = isGroundAsked;
      isAsked = isGroundAsked = false;
      if (layout.round < ROUNDS) settle();
      if (!width || !height) return;
      if (isAll) paintGround();
      paintAbove();
    });
  }

  function settle() {
    const end = performance.now() + MILLISECONDS_A_FRAME;
    while (layout.round < ROUNDS && performance.now() < end) nextRound(layout);
    element.setAttribute("aria-busy", String(layout.round < ROUNDS));
    noteMovement();
    if (!isOwnView) fit();
    askForFrame();
  }

  // All names of a large graph are written again when it stands still.
  function noteMovement() {
    movedAt = performance.now();
    if (nodes.length <= PLACED_AT_ONCE) return;
    clearTimeout(stillness);
    stillness = setTimeout(askForFrame, STILL_AFTER + 20);
  }

  const isMoving = () =>
    nodes.length > PLACED_AT_ONCE && performance.now() < movedAt + STILL_AFTER;

  function paintGround() {
    clear(below);
    const spots = spotsOf();
    const inView = edges.filter((edge) => isInView(spots[edge.from], spots[edge.to]));
    const isQuick = isMoving();
    const isFull = isQuick || inView.length > MOST_ARROWS;
    paintEdges(below, inView, spots, colours.edge, isFull ? 0.5 : 1, isFull ? 0 : 9);
    const byColour = new Map();
    nodes.forEach((node, index) => {
      if (!isNear(spots[index])) return;
      const colour = colourOf(node);
      if (!byColour.has(colour)) byColour.set(colour, []);
      byColour.get(colour).push(index);
    });
    for (const [colour, indices] of byColour) {
      if (isQuick) paintSquares(indices, spots, colour);
      else paintNodes(below, indices, spots, colour, colours.panel, 1.5);
    }
    paintNames(spots, inView);
  }

  // The lit node and the chosen edge, with their ends and names, and what is pointed at.
  function paintAbove() {
    clear(above);
    if (lit !== null || chosen !== null) {
      const spots = spotsOf();
      const bright = edges.filter(isBright);
      paintEdges(above, bright, spots, colours.accent, 3, 13);
      const ends = new Set(bright.flatMap(({ from, to }) => [from, to]));
      nodes.forEach((node, index) => {
        if (!standsOut(node)) return;
        ends.delete(index);
        paintNodes(above, [index], spots, colourOf(node), colours.accent, 4);
      });
      for (const index of ends)
        paintNodes(above, [index], spots, colourOf(nodes[index]), colours.panel, 1.5);
      paintBrightNames(spots, bright, ends);
    }
    paintPointed();
  }

  const colourOf = (node) => (node.hue === null ? colours.edge : `hsl(${node.hue} 55% 55%)`);

  const spotsOf = () => nodes.map((_, index) => toScreen(layout.xs[index], layout.ys[index]));

  function clear(pen) {
    pen.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    pen.clearRect(0, 0, width, height);
  }

  function isInView([ax, ay], [bx, by]) {
    return (
      Math.max(ax, bx) > 0 &&
      Math.min(ax, bx) < width &&
      Math.max(ay, by) > 0 &&
      Math.min(ay, by) < height
    );
  }

  const isNear = ([x, y]) => x > -20 && y > -20 && x < width + 20 && y < height + 20;

  // All edges of a look are one stroke: thousands of them cost little. So many bend unseen: they
  // are straight.
  function paintEdges(pen, painted, spots, colour, lineWidth, arrow) {
    pen.strokeStyle = pen.fillStyle = colour;
    pen.lineWidth = lineWidth;
    pen.beginPath();
    for (const edge of painted) {
      const [[ax, ay], [bx, by]] = [spots[edge.from], spots[edge.to]];
      pen.moveTo(ax, ay);
      if (arrow) pen.quadraticCurveTo(...bendPoint(ax, ay, bx, by, edge.bend), bx, by);
      else pen.lineTo(bx, by);
    }
    pen.stroke();
    if (!arrow) return;
    pen.beginPath();
    for (const edge of painted) addArrow(pen, spots[edge.from], spots[edge.to], edge.bend, arrow);
    pen.fill();
  }

  // Behind the middle, where the name stands.
  function addArrow(pen, [ax, ay], [bx, by], bend, size) {
    const middle = bendPoint(ax, ay, bx, by, bend);
    const at = 0.68;
    const [x, y] = onCurve(ax, ay, ...middle, bx, by, at);
    const angle = Math.atan2(
      (1 - at) * (middle[1] - ay) + at * (by - middle[1]),
      (1 - at) * (middle[0] - ax) + at * (bx - middle[0]),
    );
    const corner = (turn, reach) => [
      x + reach * Math.cos(angle + turn),
      y + reach * Math.sin(angle + turn),
    ];
    pen.moveTo(...corner(0, size * 0.6));
    pen.lineTo(...corner(2.4, size * 0.6));
    pen.lineTo(...corner(-2.4, size * 0.6));
  }

  function onCurve(ax, ay, mx, my, bx, by, at) {
    const [a, m, b] = [(1 - at) ** 2, 2 * at * (1 - at), at ** 2];
    return [a * ax + m * mx + b * bx, a * ay + m * my + b * by];
  }

  function paintNodes(pen, indices, spots, colour, border, borderWidth) {
    pen.beginPath();
    for (const index of indices) {
      const [x, y] = spots[index];
      const radius = nodes[index].size / 2;
      pen.moveTo(x + radius, y);
      pen.arc(x, y, radius, 0, 2 * Math.PI);
    }
    pen.fillStyle = colour;
    pen.fill();
    pen.strokeStyle = border;
    pen.lineWidth = borderWidth;
    pen.stroke();
  }

  // For nodes that move on by the next frame: a square is painted in no time.
  function paintSquares(indices, spots, colour) {
    below.fillStyle = colour;
    for (const index of indices) {
      const side = 0.85 * nodes[index].size;
      below.fillRect(spots[index][0] - side / 2, spots[index][1] - side / 2, side, side);
    }
  }

  // Those without room are left out. Nodes come first, large ones before small; edges have what is
  // left. Zooming in makes room for more.
  function paintNames(spots, inView) {
    const most = isMoving() ? MOST_NAMES_MOVING : MOST_NAMES;
    const isSeen = ([x, y]) => x > 0 && y > 0 && x < width && y < height;
    const seen = nodes.map((_, index) => index).filter((index) => isSeen(spots[index]));
    seen.sort((one, other) => nodes[other].size - nodes[one].size);
    const circles = seen.slice(0, 2 * most).map((index) => {
      const [[x, y], { size }] = [spots[index], nodes[index]];
      return { text: "", x, y, width: size, height: size };
    });
    const all = [
      ...seen.slice(0, most).map((index) => nodeLabel(spots, index)),
      ...circles,
      ...(inView.length > most ? [] : inView.map((edge) => edgeLabel(spots, edge))),
    ];
    standingFree(all).forEach((free, index) => {
      if (free) write(below, all[index]);
    });
  }

  function paintBrightNames(spots, bright, ends) {
    const most = MOST_NAMES_MOVING; // of one node: beyond, they would hide it
    const standing = nodes.map((_, index) => index).filter((index) => standsOut(nodes[index]));
    const all = [
      ...standing.map((index) => nodeLabel(spots, index)),
      ...bright.slice(0, most).map((edge) => edgeLabel(spots, edge)),
      ...[...ends].slice(0, most).map((index) => nodeLabel(spots, index)),
    ];
    standingFree(all).forEach((free, index) => {
      if (free) write(above, all[index]);
    });
  }

  function nodeLabel(spots, index) {
    const [x, y] = spots[index];
    return label(nodes[index].name, x, y + nodes[index].size / 2 + 9, 12);
  }

  function edgeLabel(spots, edge) {
    const [[ax, ay], [bx, by]] = [spots[edge.from], spots[edge.to]];
    return label(edge.label, ...bendPoint(ax, ay, bx, by, edge.bend / 2), 11);
  }

  function label(name, x, y, size) {
    const signs = [...name];
    const text =
      signs.length > LONGEST_NAME ? `${signs.slice(0, LONGEST_NAME).join("")}…` : name;
    const width = signs
      .slice(0, LONGEST_NAME)
      .reduce((sum, sign) => sum + (sign > "\u2e80" ? 12 : 6.6), 6);
    return { text, x, y, width, height: 15, size };
  }

  // In the colour of the ground and thick first: readable above lines.
  function write(pen, { text, x, y, size }) {
    if (!text) return;
    pen.font = `${size}px system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    pen.lineWidth = 4;
    pen.strokeStyle = colours.panel;
    pen.strokeText(text, x, y);
    pen.fillStyle = colours.ink;
    pen.fillText(text, x, y);
  }

  // The whole name of what is under the pointer.
  function paintPointed() {
    if (pointed === null) return;
    const text = pointed.node?.name ?? pointed.edge.label;
    above.font = "12px system-ui, sans-serif";
    const wide = above.measureText(text).width + 12;
    const x = Math.max(2, Math.min(pointed.x + 12, width - wide - 2));
    const y = Math.max(2, pointed.y - 28);
    above.fillStyle = colours.ink;
    above.fillRect(x, y, wide, 22);
    above.fillStyle = colours.panel;
    above.textAlign = "left";
    above.textBaseline = "middle";
    above.fillText(text, x + 6, y + 11);
  }

  // --- the pointer ---------------------------------------------------------------------------

  function place(event) {
    const { left, top } = canvas.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  function nodeAt(x, y) {
    for (let index = nodes.length - 1; index >= 0; index--) {
      const [nodeX, nodeY] = toScreen(layout.xs[index], layout.ys[index]);
      if (Math.hypot(nodeX - x, nodeY - y) <= nodes[index].size / 2 + 2) return index;
    }
    return null;
  }

  function edgeAt(x, y) {
    let [best, nearest] = [null, NEAR];
    for (const edge of edges) {
      const [ax, ay] = toScreen(layout.xs[edge.from], layout.ys[edge.from]);
      const [bx, by] = toScreen(layout.xs[edge.to], layout.ys[edge.to]);
      const room = NEAR + 0.12 * Math.hypot(bx - ax, by - ay);
      if (x < Math.min(ax, bx) - room || x > Math.max(ax, bx) + room) continue;
      if (y < Math.min(ay, by) - room || y > Math.max(ay, by) + room) continue;
      const middle = bendPoint(ax, ay, bx, by, edge.bend);
      let [lastX, lastY] = [ax, ay];
      for (let step = 1; step <= 12; step++) {
        const [nextX, nextY] = onCurve(ax, ay, ...middle, bx, by, step / 12);
        const distance = distanceToLine(x, y, lastX, lastY, nextX, nextY);
        if (distance < nearest) [best, nearest] = [edge, distance];
        [lastX, lastY] = [nextX, nextY];
      }
    }
    return best;
  }

  function distanceToLine(x, y, ax, ay, bx, by) {
    const [dx, dy] = [bx - ax, by - ay];
    const along = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1);
    const at = Math.max(0, Math.min(1, along));
    return Math.hypot(x - ax - at * dx, y - ay - at * dy);
  }

  const fingers = new Map(); // where each pointer that is down was last
  let dragged = null; // the node that moves with the pointer
  let travelled = 0; // pixels since the pointer came down; a click has next to none

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, place(event));
    travelled = fingers.size > 1 ? Infinity : 0;
    dragged = fingers.size > 1 ? null : nodeAt(...place(event));
  });

  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    const last = fingers.get(event.pointerId);
    if (!last) {
      pointAt(x, y);
      return;
    }
    fingers.set(event.pointerId, [x, y]);
    const [right, down] = [x - last[0], y - last[1]];
    travelled += Math.hypot(right, down);
    if (fingers.size === 2) pinch(event.pointerId, last);
    else if (travelled < 4) return;
    else if (dragged === null) move(right, down);
    else {
      layout.xs[dragged] += right / view.across;
      layout.ys[dragged] += down / view.down;
      noteMovement();
      askForFrame();
    }
  });

  function pinch(moved, last) {
    const [other] = [...fingers].filter(([finger]) => finger !== moved).map(([, at]) => at);
    const now = fingers.get(moved);
    const before = Math.hypot(last[0] - other[0], last[1] - other[1]) || 1;
    const after = Math.hypot(now[0] - other[0], now[1] - other[1]) || 1;
    zoom(after / before, (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  }

  function pointAt(x, y) {
    const index = nodeAt(x, y);
    const edge = index === null ? edgeAt(x, y) : null;
    const before = pointed;
    pointed = index !== null ? { node: nodes[index], x, y } : edge && { edge, x, y };
    canvas.classList.toggle("pointing", pointed !== null);
    if (pointed || before) askForFrame(false);
    const key = pointed?.node?.key ?? null;
    if (key !== (before?.node?.key ?? null)) onHover(key);
  }

  function pointerUp(event) {
    if (!fingers.delete(event.pointerId)) return;
    const index = dragged;
    dragged = null;
    if (event.type !== "pointerup" || travelled >= 4) return;
    const edge = index === null ? edgeAt(...place(event)) : null;
    if (index !== null) onNode(nodes[index].key);
    else if (edge) onEdge(edge.head, edge.tail);
  }
  canvas.addEventListener("pointerup", pointerUp);
  canvas.addEventListener("pointercancel", pointerUp);
  canvas.addEventListener("pointerleave", () => {
    if (pointed?.node) onHover(null);
    pointed = null;
    askForFrame(false);
  });
  canvas.addEventListener("dblclick", fit);
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...place(event));
    },
    { passive: false },
  );

  const STEP = 60; // pixels
  const KEYS = {
    ArrowLeft: () => move(STEP, 0),
    ArrowRight: () => move(-STEP, 0),
    ArrowUp: () => move(0, STEP),
    ArrowDown: () => move(0, -STEP),
    "+": () => zoom(1.25, width / 2, height / 2),
    "-": () => zoom(0.8, width / 2, height / 2),
    0: fit,
  };
  canvas.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(KEYS, event.key) || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    KEYS[event.key]();
  });

  // --- the pane and its colours --------------------------------------------------------------

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of COLOURS) colours[name] = style.getPropertyValue(`--${name}`).trim();
    askForFrame();
  }

  new ResizeObserver(() => {
    ({ width, height } = element.getBoundingClientRect());
    for (const each of [ground, canvas]) {
      each.width = Math.round(width * devicePixelRatio);
      each.height = Math.round(height * devicePixelRatio);
    }
    if (isOwnView) askForFrame();
    else fit();
  }).observe(element);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColours);
  readColours();

  return {
    show,
    light,
    choose,
    fit,
    describe(words) {
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", words);
    },
  };
}
