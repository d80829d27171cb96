"use strict";

// The drawn graph, by BokehJS. Knows nodes and edges and nothing of documents:
//   drawing.show(nodes, edges)   nodes: {key, name, hue}; edges: {head, tail, label} (keys)
//   drawing.light(key)           lights up one node, or none
//   drawing.choose(head, tail)   marks one edge, or none
// and calls `onEdge(head, tail)`, `onNode(key)`, `onHover(key or null)`.
function makeDrawing(element, { onEdge, onNode, onHover }) {
  const LONGEST_NAME = 32; // characters; hovering shows all of it
  const nodeSource = new Bokeh.ColumnDataSource({ data: {} });
  const edgeSource = new Bokeh.ColumnDataSource({ data: {} });
  const toolbar = new Bokeh.Toolbar();
  const plot = Bokeh.Plotting.figure({
    toolbar,
    toolbar_location: null,
    sizing_mode: "stretch_both",
    match_aspect: true, // else the arrows point astray
    x_range: new Bokeh.Range1d({ start: -1, end: 1 }),
    y_range: new Bokeh.Range1d({ start: -1, end: 1 }),
    outline_line_color: null,
    min_border: 0,
  });
  for (const axis of [...plot.xaxis, ...plot.yaxis]) axis.visible = false;
  for (const grid of [...plot.xgrid, ...plot.ygrid]) grid.visible = false;

  // A second, wide and invisible line under each edge: a thin one is hard to hit.
  const ends = { xs: { field: "xs" }, ys: { field: "ys" }, source: edgeSource };
  const lines = plot.multi_line({
    ...ends,
    line_color: { field: "color" },
    line_width: { field: "width" },
  });
  const targets = plot.multi_line({ ...ends, line_alpha: 0, line_width: 14 });
  const arrows = plot.scatter({
    x: { field: "arrow_x" },
    y: { field: "arrow_y" },
    source: edgeSource,
    marker: "triangle",
    angle: { field: "angle" },
    size: { field: "arrow" },
    fill_color: { field: "color" },
    line_color: null,
  });
  const centre = { x: { field: "x" }, y: { field: "y" }, source: nodeSource };
  const circles = plot.scatter({
    ...centre,
    size: { field: "size" },
    fill_color: { field: "color" },
    line_color: { field: "border" },
    line_width: { field: "border_width" },
  });
  // Names are written twice, first in the colour of the ground and thick: readable above lines.
  const halos = [];
  const names = [];
  function addNames(columns) {
    const words = {
      text_font: "system-ui, sans-serif",
      text_align: "center",
      text_baseline: "middle",
    };
    halos.push(plot.text({ ...words, ...columns, text_outline_width: 4 }));
    names.push(plot.text({ ...words, ...columns }));
  }
  addNames({
    x: { field: "x" },
    y: { field: "y" },
    source: edgeSource,
    text: { field: "shown" },
    text_font_size: "11px",
  });
  addNames({
    ...centre,
    text: { field: "shown" },
    y_offset: { field: "below" },
    text_font_size: "12px",
  });
  // One look for all states: the page itself says what is chosen and what is lit.
  for (const renderer of [lines, targets, arrows, circles, ...halos, ...names]) {
    renderer.nonselection_glyph = renderer.glyph;
    renderer.selection_glyph = renderer.glyph;
    renderer.hover_glyph = renderer.glyph;
  }

  const zoom = new Bokeh.WheelZoomTool();
  plot.add_tools(
    zoom,
    new Bokeh.TapTool({ renderers: [circles, arrows, targets] }),
    new Bokeh.HoverTool({ renderers: [circles], tooltips: [["", "@name"]] }),
    new Bokeh.HoverTool({
      renderers: [targets],
      tooltips: [["", "@label"]],
      line_policy: "interp",
    }),
  );
  toolbar.active_scroll = zoom;

  let nodes = [];
  let edges = [];
  let places = [];
  let lit = null;
  let chosen = null;
  const colours = {};

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["ink", "edge", "accent", "panel"])
      colours[name] = style.getPropertyValue(`--${name}`).trim();
    plot.setv({ border_fill_color: colours.panel, background_fill_color: colours.panel });
    for (const { glyph } of names) glyph.text_color = { value: colours.ink };
    for (const { glyph } of halos)
      glyph.setv({
        text_color: { value: colours.panel },
        text_outline_color: { value: colours.panel },
      });
  }

  function isChosen(edge) {
    return chosen !== null && edge.head === chosen.head && edge.tail === chosen.tail;
  }

  function touches(edge, key) {
    return key !== null && (edge.head === key || edge.tail === key);
  }

  function isBright(edge) {
    return isChosen(edge) || touches(edge, lit);
  }

  function standsOut(node) {
    return node.key === lit || (chosen !== null && touches(chosen, node.key));
  }

  function paint() {
    const number = new Map(nodes.map((node, index) => [node.key, index]));
    const pairs = new Set(edges.map((edge) => `${edge.head} ${edge.tail}`));
    const bend = (edge) => (pairs.has(`${edge.tail} ${edge.head}`) ? 0.12 : 0.03); // opposite edges part
    const curves = edges.map((edge) =>
      bentLine(places[number.get(edge.head)], places[number.get(edge.tail)], bend(edge)),
    );
    const middles = curves.map(([xs, ys]) => [xs[8], ys[8]]);
    const [nodeTexts, edgeTexts] = readableNames(middles);
    edgeSource.data = {
      xs: curves.map(([xs]) => xs),
      ys: curves.map(([, ys]) => ys),
      x: middles.map(([x]) => x),
      y: middles.map(([, y]) => y),
      // Behind the middle, where the name stands.
      arrow_x: curves.map(([xs]) => xs[11]),
      arrow_y: curves.map(([, ys]) => ys[11]),
      angle: curves.map(([xs, ys]) => Math.atan2(ys[12] - ys[10], xs[12] - xs[10]) - Math.PI / 2),
      label: edges.map((edge) => edge.label),
      shown: edgeTexts,
      color: edges.map((edge) => (isBright(edge) ? colours.accent : colours.edge)),
      width: edges.map((edge) => (isBright(edge) ? 3 : 1)),
      arrow: edges.map((edge) => (isBright(edge) ? 13 : 9)),
    };
    nodeSource.data = {
      x: places.map(([x]) => x),
      y: places.map(([, y]) => y),
      name: nodes.map((node) => node.name),
      shown: nodeTexts,
      color: nodes.map((node) => `hsl(${node.hue}, 55%, 55%)`),
      size: nodes.map((node) => node.size),
      below: nodes.map(namesBelow),
      border: nodes.map((node) => (standsOut(node) ? colours.accent : colours.panel)),
      border_width: nodes.map((node) => (standsOut(node) ? 4 : 1.5)),
    };
  }

  // The names of nodes and edges as they are written: those without room are empty. What stands out
  // comes first, then nodes; edges have what is left. Zooming in makes room for more.
  function readableNames(middles) {
    const pixel = element.getBoundingClientRect().width / (plot.x_range.end - plot.x_range.start);
    const box = ([x, y], below, width, height) => ({
      x: x * pixel,
      y: -y * pixel + below,
      width,
      height,
    });
    const label = (kind, index, text, place, below, first) => ({
      kind,
      index,
      text,
      first,
      ...box(place, below, textWidth(text), 15),
    });
    const labels = [
      ...nodes.map((node, index) =>
        label(
          "node",
          index,
          shortened(node.name),
          places[index],
          namesBelow(node),
          standsOut(node),
        ),
      ),
      ...nodes.map((node, index) => ({
        kind: "circle",
        first: false,
        ...box(places[index], 0, node.size, node.size),
      })),
      ...edges.map((edge, index) =>
        label("edge", index, shortened(edge.label), middles[index], 0, isBright(edge)),
      ),
    ];
    labels.sort((one, other) => other.first - one.first);
    const texts = { node: nodes.map(() => ""), circle: [], edge: edges.map(() => "") };
    standingFree(labels).forEach((free, rank) => {
      const { kind, index, text } = labels[rank];
      if (free) texts[kind][index] = text;
    });
    return [texts.node, texts.edge];
  }

  function namesBelow(node) {
    return node.size / 2 + 9;
  }

  function shortened(text) {
    const signs = [...text];
    return signs.length > LONGEST_NAME ? `${signs.slice(0, LONGEST_NAME).join("")}…` : text;
  }

  function textWidth(text) {
    return [...text].reduce((width, sign) => width + (sign > "\u2e80" ? 12 : 6.6), 6);
  }

  // The smallest view that holds all nodes and their names, a unit as long across as up.
  function fit() {
    const reach = [0, 1].map((axis) =>
      Math.max(0.3, ...places.map((place) => Math.abs(place[axis]))),
    );
    const { width, height } = element.getBoundingClientRect();
    // How much of the plane a pixel is; the margin is for names.
    const unit = Math.max(
      (2 * reach[0]) / Math.max(width - 150, 50),
      (2 * reach[1]) / Math.max(height - 80, 50),
    );
    plot.x_range.setv({ start: (-unit * width) / 2, end: (unit * width) / 2 });
    plot.y_range.setv({ start: (-unit * height) / 2, end: (unit * height) / 2 });
    paint();
  }

  function show(newNodes, newEdges) {
    const most = Math.max(1, ...newNodes.map((node) => node.weight));
    nodes = newNodes.map((node) => ({ ...node, size: 11 + 13 * Math.sqrt(node.weight / most) }));
    edges = newEdges;
    const number = new Map(nodes.map((node, index) => [node.key, index]));
    places = springLayout(
      nodes.length,
      edges.map((edge) => [number.get(edge.head), number.get(edge.tail)]),
    );
    spreadOut();
    fit();
  }

  // Panes are wide or high: use all of it.
  function spreadOut() {
    const { width, height } = element.getBoundingClientRect();
    const stretch = Math.min(2, Math.max(0.5, width / Math.max(height, 1)));
    for (const axis of [0, 1]) {
      const values = places.map((place) => place[axis]);
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const reach = axis === 0 ? Math.max(1, stretch) : Math.max(1, 1 / stretch);
      for (const place of places)
        place[axis] = high > low ? ((2 * (place[axis] - low)) / (high - low) - 1) * reach : 0;
    }
  }

  // A drag moves the node under the mouse, or else the view.
  let dragged = null;
  plot.on_event("panstart", () => {
    dragged = nodeSource.inspected.indices[0] ?? null;
  });
  let last = null;
  plot.on_event("pan", ({ delta_x, delta_y }) => {
    const [dx, dy] = last === null ? [delta_x, delta_y] : [delta_x - last[0], delta_y - last[1]];
    last = [delta_x, delta_y];
    const { width, height } = element.getBoundingClientRect();
    const { x_range, y_range } = plot;
    const right = (dx * (x_range.end - x_range.start)) / width;
    const up = (-dy * (y_range.end - y_range.start)) / height;
    if (dragged !== null) {
      places[dragged][0] += right;
      places[dragged][1] += up;
      paint();
    } else {
      x_range.setv({ start: x_range.start - right, end: x_range.end - right });
      y_range.setv({ start: y_range.start - up, end: y_range.end - up });
    }
  });
  plot.on_event("panend", () => {
    dragged = null;
    last = null;
  });
  plot.on_event("doubletap", fit);

  // A view that moves or zooms gives other names room.
  let waiting = false;
  plot.on_event("rangesupdate", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      paint();
    });
  });

  nodeSource.selected.properties.indices.change.connect(() => {
    const [index] = nodeSource.selected.indices;
    if (index !== undefined) onNode(nodes[index].key);
  });
  edgeSource.selected.properties.indices.change.connect(() => {
    const [index] = edgeSource.selected.indices;
    // A node lies on top of its edges.
    if (index !== undefined && nodeSource.selected.indices.length === 0)
      onEdge(edges[index].head, edges[index].tail);
  });
  plot.on_event("mousemove", () => {
    const index = nodeSource.inspected.indices[0];
    const key = index === undefined ? null : nodes[index].key;
    if (key !== lit) onHover(key);
  });

  readColours();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColours();
    paint();
  });
  Bokeh.Plotting.show(plot, element);

  return {
    show,
    light(key) {
      lit = key;
      paint();
    },
    choose(head, tail) {
      chosen = head === null ? null : { head, tail };
      paint();
    },
  };
}
