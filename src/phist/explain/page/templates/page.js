// Reads the page's own content, checks that it computes what Python did, and shows it.

const CHECKED = 12; // graphs
const AGREEMENT = 1e-4; // of probabilities

// The largest difference between what this page and Python say of some graphs, or null where nothing is computed here.
function disagreement() {
  const graphs = Array.from({ length: nGraphs() }, (_, graph) => graph).filter(canCompute);
  const step = Math.max(1, Math.floor(graphs.length / CHECKED));
  let [most, work] = [null, 0];
  for (let place = 0; place < graphs.length && place / step < CHECKED && work < MOST_WORK; place += step) {
    const said = rowOf(content.map.said, graphs[place]);
    const { probabilities } = predict(content.model, drawnGraph(graphs[place]));
    most = Math.max(most, ...probabilities.map((value, number) => Math.abs(value - said[number])));
    work += workOn(graphs[place]);
  }
  return most;
}

function sayCheck() {
  const [difference, badge] = [disagreement(), byId("check")];
  content.agrees = difference !== null && difference <= AGREEMENT;
  badge.className = difference === null ? "" : content.agrees ? "good" : "bad";
  if (difference === null) badge.textContent = "shows stored numbers only";
  else if (content.agrees) badge.textContent = `computes in this page; agrees to ${difference <= 1e-6 ? "1e-6" : difference <= 1e-5 ? "1e-5" : "1e-4"}`;
  else badge.textContent = `this browser disagrees by ${difference.toExponential(1)}; editing is off`;
}

function sayLead() {
  const count = content.details.graphs.length;
  byId("lead").textContent = `${counted(content.total, "graph")}, ${nClasses()} classes, ${count} explained in full. ${
    content.model.coverage[0].toUpperCase()}${content.model.coverage.slice(1)}.`;
}

function drawAll() {
  readTheme();
  drawMapKey();
  drawWhyKey();
  refresh({});
}

const touches = (patch, ...names) => !Object.keys(patch).length || names.some((name) => name in patch);

function refresh(patch) {
  if (touches(patch, "filter")) drawFilters();
  if (touches(patch, "graph", "filter", "search", "lasso")) drawMap();
  if (touches(patch, "graph")) drawNearest();
  if (touches(patch, "graph", "colouring", "edits")) byId("colouring").value = colouring();
  if (touches(patch, "graph", "target", "root", "network", "channel", "edits")) drawWhy();
  else if (touches(patch, "hops")) drawHistogram();
  drawGraph();
  drawGraphKey();
  drawGraphControls();
  if (touches(patch, "graph", "root", "editing", "edits", "complaint")) sayGraph();
  if (touches(patch, "graph", "edits")) drawBars();
  if (!touches({ ...patch, root: 0 }, "hops")) drawTables();
}

async function start() {
  const packed = JSON.parse(byId("data").textContent);
  openContent(revive(packed, await unpack(byId("arrays").textContent)));
  readTheme();
  sayLead();
  sayCheck();
  startMap();
  startGraph();
  startWhy();
  startTables();
  drawAll();
  listeners.push(refresh);
  selectGraph(content.details.graphs[0]);
  window.addEventListener("resize", drawAll);
  const pictures = { "map-canvas": drawMap, "graph-canvas": drawGraph, "why-canvas": drawHistogram };
  for (const [id, draw] of Object.entries(pictures)) new ResizeObserver(() => draw()).observe(byId(id)); // text around them moves them
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  document.documentElement.dataset.ready = "true";
}

start();
