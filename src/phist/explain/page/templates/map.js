// The map: all graphs in the plane.

const FILTERS = [
  ["all", "all graphs"], ["wrong", "mistakes"], ["uncertain", "uncertain"], ["alike", "look-alikes across classes"],
  ["test", "not trained on"], ["detailed", "explained in full"],
];
const view = { zoom: 1, x: 0.5, y: 0.5 }; // the centre in the unit square
const MARGIN = 22; // pixels around the unit square
const THUMBNAILS = 40; // the most graphs in view that are drawn instead of dots
let loop = null; // of the lasso while it is drawn

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
  const inView = shown.reduce((found, matches, graph) => {
    const [x, y] = at(graph);
    return matches && x > -30 && y > -30 && x < width + 30 && y < height + 30 ? [...found, graph] : found;
  }, []);
  const small = inView.length <= THUMBNAILS && view.zoom > 1.5;
  context.globalAlpha = 0.15;
  shown.forEach((matches, graph) => { if (!matches) drawDot(context, graph, ...at(graph)); });
  context.globalAlpha = 1;
  drawNeighbours(context, at);
  for (const graph of inView) {
    if (small && isDrawn(graph)) drawThumbnail(context, graph, ...at(graph));
    else drawDot(context, graph, ...at(graph));
  }
  disc(context, ...at(state.graph), small ? 36 : 12, null, theme.accent, 3);
  if (loop) drawLoop(context);
  sayMap(shown);
}

function drawDot(context, graph, x, y) {
  const colour = classColour(labelOf(graph) >= 0 ? labelOf(graph) : predictedOf(graph));
  disc(context, x, y, 4.2, content.map.training[graph] ? theme.paper : colour, colour, 1.8);
  if (isWrong(graph)) disc(context, x, y, 7.5, null, theme.ink, 1.6);
}

function drawThumbnail(context, graph, x, y) {
  const size = 56;
  const colour = classColour(labelOf(graph) >= 0 ? labelOf(graph) : predictedOf(graph));
  if (isWrong(graph)) disc(context, x, y, 32, null, theme.ink, 1.4);
  thumbnail(context, drawnGraph(graph), x - size / 2, y - size / 2, size, colour);
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
  const alike = group ? ` Nobody can tell graph ${content.map.ids[state.graph]} by 1-WL from ${
    Array.from(content.map.alike).filter((other) => other === group).length - 1} others, of several classes.` : "";
  byId("map-note").textContent = `${count} graphs${more}. Lines go to the nearest neighbours.${alike}`;
}

const inside = ([x, y], polygon) => polygon.reduce((within, [x1, y1], number) => {
  const [x0, y0] = polygon[(number + polygon.length - 1) % polygon.length];
  return (y0 > y) !== (y1 > y) && x < ((x0 - x1) * (y - y1)) / (y0 - y1) + x1 ? !within : within;
}, false);

function nearestGraph(place) {
  const box = byId("map-canvas").getBoundingClientRect();
  const at = project(box.width, box.height);
  let [best, least] = [-1, 40];
  matching().forEach((matches, graph) => {
    const [x, y] = at(graph);
    const distance = Math.hypot(x - place[0], y - place[1]);
    if (matches && distance < least) [best, least] = [graph, distance];
  });
  return best;
}

function zoomBy(factor, place = null) {
  const box = byId("map-canvas").getBoundingClientRect();
  const before = view.zoom;
  view.zoom = Math.max(1, Math.min(60, view.zoom * factor));
  if (place) {
    const keep = 1 / before - 1 / view.zoom; // what is under the pointer stays there
    view.x += ((place[0] - box.width / 2) / (box.width - 2 * MARGIN)) * keep;
    view.y += ((place[1] - box.height / 2) / (box.height - 2 * MARGIN)) * keep;
  } else if (factor > 1) [view.x, view.y] = [content.map.x[state.graph] / 65535, content.map.y[state.graph] / 65535];
  if (view.zoom === 1) view.x = view.y = 0.5;
  drawMap();
}

function closeLoop() {
  const box = byId("map-canvas").getBoundingClientRect();
  const at = project(box.width, box.height);
  const caught = Array.from({ length: nGraphs() }, (_, graph) => graph).filter((graph) => inside(at(graph), loop));
  loop = null;
  change({ lasso: caught.length ? new Set(caught) : null });
}

function stepGraph(step) {
  const found = matching().flatMap((matches, graph) => (matches ? [graph] : []));
  if (!found.length) return;
  const place = found.indexOf(state.graph);
  selectGraph(found[(Math.max(place, step > 0 ? -1 : 0) + step + found.length) % found.length]);
}

function listenToMap() {
  const canvas = byId("map-canvas");
  const lassoing = () => byId("lasso").getAttribute("aria-pressed") === "true";
  let from = null;
  let moved = false;
  canvas.addEventListener("pointerdown", (event) => {
    [from, moved] = [placeOf(event, canvas), false];
    if (lassoing() || event.shiftKey) loop = [from];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!from) return;
    const place = placeOf(event, canvas);
    moved = moved || Math.hypot(place[0] - from[0], place[1] - from[1]) > 4;
    if (loop) loop.push(place);
    else if (moved && view.zoom > 1) {
      view.x -= (place[0] - from[0]) / (canvas.clientWidth - 2 * MARGIN) / view.zoom;
      view.y -= (place[1] - from[1]) / (canvas.clientHeight - 2 * MARGIN) / view.zoom;
      from = place;
    }
    drawMap();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (loop && moved) closeLoop();
    else if (!moved && from) {
      const graph = nearestGraph(placeOf(event, canvas));
      if (graph >= 0) selectGraph(graph);
    }
    from = loop = null;
  });
  canvas.addEventListener("pointercancel", () => { from = loop = null; });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomBy(Math.exp(-event.deltaY / 300), placeOf(event, canvas));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const act = {
      ArrowRight: () => stepGraph(1), ArrowDown: () => stepGraph(1), ArrowLeft: () => stepGraph(-1), ArrowUp: () => stepGraph(-1),
      "+": () => zoomBy(1.6), "-": () => zoomBy(1 / 1.6),
    }[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  byId("zoom-in").addEventListener("click", () => zoomBy(1.6));
  byId("zoom-out").addEventListener("click", () => zoomBy(1 / 1.6));
  byId("zoom-all").addEventListener("click", () => { zoomBy(0); change({ lasso: null }); });
  byId("lasso").addEventListener("click", () => byId("lasso").setAttribute("aria-pressed", String(!lassoing())));
  byId("filter").addEventListener("change", (event) => change({ filter: event.target.value }));
  byId("search").addEventListener("input", (event) => change({ search: event.target.value }));
  byId("search").addEventListener("keydown", (event) => { if (event.key === "Enter") stepGraph(1); });
}

function startMap() {
  fillSelect(byId("filter"), FILTERS.map(([name, text]) => [name, `${text} (${
    Array.from({ length: nGraphs() }, (_, graph) => graph).filter(filterOf(name)).length})`]));
  listenToMap();
}

function drawMapKey() {
  const known = content.map.labels.some((label) => label > 0);
  byId("map-key").replaceChildren(
    ...content.classes.slice(0, 12).map((name, number) => make("span", {}, make("i", { style: { background: classColour(number) } }), name)),
    make("span", {}, make("i", { style: { borderColor: theme.soft } }), "trained on"),
    ...(known ? [make("span", {}, make("i", { style: { borderColor: theme.ink } }), "mistake")] : ["colours are predictions"]),
  );
}
