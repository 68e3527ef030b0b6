// The map under the pointer and the keys: hovering, choosing, zooming, the lasso, search.

const inside = ([x, y], polygon) => polygon.reduce((within, [x1, y1], number) => {
  const [x0, y0] = polygon[(number + polygon.length - 1) % polygon.length];
  return (y0 > y) !== (y1 > y) && x < ((x0 - x1) * (y - y1)) / (y0 - y1) + x1 ? !within : within;
}, false);

function nearestGraph(place, most = 40) {
  const box = byId("map-canvas").getBoundingClientRect();
  const at = project(box.width, box.height);
  let [best, least] = [-1, most];
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
  const found = graphsOf(matching());
  if (!found.length) return;
  const place = found.indexOf(state.graph);
  selectGraph(found[(Math.max(place, step > 0 ? -1 : 0) + step + found.length) % found.length]);
}

function hover(graph) {
  if (graph === hovered) return;
  hovered = graph;
  drawMap();
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
    const place = placeOf(event, canvas);
    if (!from) { hover(nearestGraph(place, Number(canvas.dataset.thumbnails) ? 30 : 14)); return; }
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
  canvas.addEventListener("pointerleave", () => hover(-1));
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
  byId("search").addEventListener("input", (event) => change({ search: event.target.value }));
  byId("search").addEventListener("keydown", (event) => { if (event.key === "Enter") stepGraph(1); });
}

function startMap() {
  drawFilters();
  listenToMap();
}
