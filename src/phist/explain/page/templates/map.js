// The map: all graphs in the plane.

const FILTERS = [
  ["all", "all"], ["wrong", "wrong"], ["uncertain", "uncertain"], ["alike", "look-alikes"], ["test", "not trained on"],
  ["detailed", "explained in full"],
];
const view = { zoom: 1, x: 0.5, y: 0.5 }; // the centre in the unit square
const MARGIN = 22; // pixels around the unit square
const THUMBNAILS = 40; // the most graphs in view that are drawn instead of dots
let loop = null; // of the lasso while it is drawn
let hovered = -1; // the graph under the pointer

function project(width, height) {
  const scale = [(width - 2 * MARGIN) * view.zoom, (height - 2 * MARGIN) * view.zoom];
  return (graph) => [
    width / 2 + (content.map.x[graph] / 65535 - view.x) * scale[0],
    height / 2 + (content.map.y[graph] / 65535 - view.y) * scale[1],
  ];
}

function drawMap() {
  const { context, width, height } = paper(byId("map-canvas"));
  const at = project(width, height);
  const shown = matching();
  const inView = graphsOf(shown).filter((graph) => {
    const [x, y] = at(graph);
    return x > -30 && y > -30 && x < width + 30 && y < height + 30;
  });
  const small = inView.length <= THUMBNAILS && view.zoom > 1.5;
  const radius = Math.max(1.8, Math.min(4.2, 0.135 * Math.sqrt((width * height * view.zoom ** 2) / shown.length))); // apart, if they can
  context.globalAlpha = 0.15;
  shown.forEach((matches, graph) => { if (!matches) drawDot(context, graph, ...at(graph), radius); });
  context.globalAlpha = 1;
  drawNeighbours(context, at);
  for (const graph of [...inView.filter((one) => !isWrong(one)), ...inView.filter(isWrong)]) { // no dot hides a ring
    if (small && isDrawn(graph)) drawThumbnail(context, graph, ...at(graph));
    else drawDot(context, graph, ...at(graph), radius);
  }
  disc(context, ...at(state.graph), small ? 36 : 12, null, theme.accent, 3);
  byId("map-canvas").dataset.thumbnails = small ? inView.filter(isDrawn).length : 0;
  if (loop) drawLoop(context);
  else if (hovered >= 0) drawName(context, hovered, ...at(hovered), width);
  sayMap(shown);
}

const graphsOf = (shown) => shown.flatMap((matches, graph) => (matches ? [graph] : []));
const colourOf = (graph) => classColour(labelOf(graph) >= 0 ? labelOf(graph) : predictedOf(graph));

// Id and prediction of a graph, beside its place.
function drawName(context, graph, x, y, width) {
  const text = `${content.map.ids[graph]}: ${content.classes[predictedOf(graph)]}, ${percent(Math.max(...probabilitiesOf(graph)))}`;
  context.font = "12.5px sans-serif";
  const size = context.measureText(text).width + 14;
  const left = Math.max(2, Math.min(width - size - 2, x - size / 2));
  const top = y > 46 ? y - 38 : y + 16;
  context.fillStyle = theme.ink;
  context.beginPath();
  context.roundRect(left, top, size, 23, 6);
  context.fill();
  context.fillStyle = theme.paper;
  context.fillText(text, left + 7, top + 16);
}

function drawDot(context, graph, x, y, radius) {
  const colour = colourOf(graph);
  disc(context, x, y, radius, content.map.training[graph] ? theme.paper : colour, colour, 0.43 * radius);
  if (isWrong(graph)) disc(context, x, y, radius + 3.3, null, theme.ink, 1.6);
}

function drawThumbnail(context, graph, x, y) {
  const size = 56;
  if (isWrong(graph)) disc(context, x, y, 32, null, theme.ink, 1.4);
  thumbnail(context, drawnGraph(graph), x - size / 2, y - size / 2, size, colourOf(graph), { hollow: content.map.training[graph] > 0 });
}

function drawNeighbours(context, at) {
  const { near, nNear } = content.map;
  context.strokeStyle = theme.soft;
  context.lineWidth = 1;
  context.beginPath();
  for (const other of near.subarray(state.graph * nNear, (state.graph + 1) * nNear)) {
    context.moveTo(...at(state.graph));
    context.lineTo(...at(other));
  }
  context.stroke();
}

function drawLoop(context) {
  context.setLineDash([4, 4]);
  context.strokeStyle = theme.accent;
  context.lineWidth = 1.5;
  context.beginPath();
  loop.forEach(([x, y], number) => (number ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
  context.stroke();
  context.setLineDash([]);
}

function sayMap(shown) {
  const count = shown.filter(Boolean).length;
  const more = content.total > nGraphs() ? `; the map has ${nGraphs()} of ${content.total}` : "";
  const group = content.map.alike[state.graph];
  const others = group ? Array.from(content.map.alike).filter((other) => other === group).length - 1 : 0;
  const alike = group ? ` Nobody can tell graph ${content.map.ids[state.graph]} by 1-WL from ${
    others === 1 ? "1 other, of another class" : `${others} others, together of several classes`}.` : "";
  byId("map-note").textContent = `${counted(count, "graph")}${more}.${alike}`;
}

// The nearest graphs as buttons.
function drawNearest() {
  const { near, nNear } = content.map;
  const found = Array.from(near.subarray(state.graph * nNear, (state.graph + 1) * nNear));
  byId("nearest").replaceChildren(...found.map((graph) => graphButton(graph, content.map.ids[graph])));
  byId("nearest-title").hidden = !found.length;
}

function graphButton(graph, text, root = -1) {
  const drawn = drawnGraph(graph);
  const place = drawn.numbers && root >= 0 ? drawn.numbers.indexOf(root) : root;
  const canvas = make("canvas", { "aria-hidden": "true" });
  requestAnimationFrame(() => {
    const { context, width, height } = paper(canvas);
    const size = Math.min(width, height) - 8;
    thumbnail(context, drawn, (width - size) / 2, (height - size) / 2, size, colourOf(graph), { hollow: content.map.training[graph] > 0, root: place });
  });
  return make("button", { type: "button", onclick: () => selectGraph(graph, place) }, canvas, text);
}

function drawFilters() {
  byId("filters").replaceChildren(...FILTERS.map(([name, text]) => {
    const count = graphsOf(Array.from({ length: nGraphs() }, (_, graph) => filterOf(name)(graph))).length;
    const chip = make("button", { type: "button", "aria-pressed": String(state.filter === name), "data-filter": name, onclick: () => change({ filter: name }) },
      text, make("b", {}, String(count)));
    chip.disabled = !count;
    return chip;
  }));
}

function drawMapKey() {
  const known = content.map.labels.some((label) => label > 0);
  byId("map-key").replaceChildren(
    ...content.classes.slice(0, 12).map((name, number) => make("span", {}, make("i", { style: { background: classColour(number) } }), name)),
    make("span", {}, make("i", { style: { borderColor: theme.soft } }), "trained on"),
    ...(known ? [make("span", {}, make("i", { style: { borderColor: theme.ink } }), "mistake")] : ["colours are predictions"]),
  );
}
