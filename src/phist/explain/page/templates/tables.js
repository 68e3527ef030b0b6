// The same numbers as text, filled when they are opened.

const MOST_ROWS = 300;

function tableOf(heads, rows) {
  const body = rows.slice(0, MOST_ROWS).map((cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, cell))));
  const more = rows.length > MOST_ROWS ? [make("p", { class: "note" }, `The first ${MOST_ROWS} of ${rows.length}.`)] : [];
  const head = make("tr", {}, ...heads.map((name) => make("th", { scope: "col" }, name)));
  return [make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)), ...more];
}

function graphRows() {
  return matching().flatMap((matches, graph) => (matches ? [[
    make("button", { type: "button", onclick: () => selectGraph(graph) }, content.map.ids[graph]),
    labelOf(graph) < 0 ? "unknown" : content.classes[labelOf(graph)], content.classes[predictedOf(graph)],
    percent(Math.max(...probabilitiesOf(graph))), String(content.map.nodes[graph]), String(content.map.edges[graph]),
    content.map.training[graph] ? "yes" : "no",
  ]] : []));
}

const byStrength = (rows, values) => [...rows.keys()].sort((one, other) => Math.abs(values[other] || 0) - Math.abs(values[one] || 0)).map((row) => rows[row]);

function nodeRows() {
  const graph = shownGraph();
  const columns = ["share", "vote", "effect"].map((name) => nodeValues(name));
  const rows = Array.from({ length: graph.n }, (_, node) => [
    make("button", { type: "button", onclick: () => change({ root: node }) }, nodeName(graph, node)),
    ...columns.map((values) => (values ? signed(values[node]) : "not computed")),
  ]);
  const [shares, , effects] = columns;
  return byStrength(rows, (content.details.byShares ? shares : effects) || shares || []);
}

function edgeRows() {
  const graph = drawnGraph(state.graph);
  const columns = ["edgeEffects", "edgeLogits"].map((name) => explained(name, "detailEdges"));
  const rows = Array.from(graph.sources, (source, edge) => [
    `${nodeName(graph, source)} – ${nodeName(graph, graph.targets[edge])}`,
    ...columns.map((values) => (values ? signed(values[edge]) : "not computed")),
  ]);
  return byStrength(rows, edgeValues() || []);
}

const TABLES = {
  "table-graphs": () => tableOf(["graph", "class", "predicted", "probability", "nodes", "edges", "trained on"], graphRows()),
  "table-nodes": () => tableOf(["node", "share in the logit", "root vote", "effect on the probability"], nodeRows()),
  "table-edges": () => tableOf(["edge", "effect on the probability", "effect on the logit"], edgeRows()),
};

function drawTables() {
  for (const [id, fill] of Object.entries(TABLES)) {
    if (byId(id).open) byId(id).querySelector("div").replaceChildren(...fill());
  }
}

function startTables() {
  for (const id of Object.keys(TABLES)) byId(id).addEventListener("toggle", drawTables);
}
