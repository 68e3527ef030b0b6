// Reads the page's own content, checks that it computes what Python did, and shows it.

const CHECKED = 12; // graphs
const AGREEMENT = 1e-4; // of probabilities

// The largest difference between what this page and Python say of some graphs, or null where nothing is computed here.
function disagreement() {
  const graphs = Array.from({ length: nGraphs() }, (_, graph) => graph).filter(canCompute);
  if (!graphs.length) return null;
  const step = Math.max(1, Math.floor(graphs.length / CHECKED));
  const chosen = graphs.filter((_, place) => place % step === 0).slice(0, CHECKED);
  return Math.max(...chosen.map((graph) => {
    const { probabilities } = predict(content.model, drawnGraph(graph));
    return Math.max(...probabilities.map((value, number) => Math.abs(value - rowOf(content.map.said, graph)[number])));
  }));
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
  byId("lead").textContent = `${content.total} graphs, ${nClasses()} classes, ${count} explained in full. ${
    content.model.coverage[0].toUpperCase()}${content.model.coverage.slice(1)}.`;
}

function drawAll() {
  readTheme();
  drawMapKey();
  drawGraphKey();
  drawWhyKey();
  refresh({});
}

const touches = (patch, ...names) => !Object.keys(patch).length || names.some((name) => name in patch);

function refresh(patch) {
  if (touches(patch, "graph", "filter", "search", "lasso")) drawMap();
  if (touches(patch, "colouring")) byId("colouring").value = state.colouring;
  drawWhy();
  drawGraph();
  drawGraphControls();
  sayGraph();
  if (touches(patch, "graph", "edits")) drawBars();
  drawTables();
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
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  document.documentElement.dataset.ready = "true";
}

start();
