// What is shown now, and where its numbers are. Panes listen to changes of the state.

let content = null; // of the page, as content.py makes it
const starts = {};
const state = {
  graph: 0, target: 0, root: 0, hops: 0, network: 0, channel: 0, colouring: "share",
  filter: "all", search: "", lasso: null, editing: false, edits: [],
};
const listeners = [];
const predictions = new Map();

function change(patch) {
  Object.assign(state, patch);
  listeners.forEach((listener) => listener(patch));
}

function openContent(found) {
  content = found;
  starts.nodes = startsOf(content.drawings.nodes);
  starts.edges = startsOf(content.drawings.edges);
  starts.detailNodes = startsOf(Array.from(content.details.graphs, (graph) => content.drawings.nodes[graph]));
  starts.detailEdges = startsOf(Array.from(content.details.graphs, (graph) => content.drawings.edges[graph]));
}

const nClasses = () => content.classes.length;
const nGraphs = () => content.map.ids.length;
const labelOf = (graph) => content.map.labels[graph] - 1;
const rowOf = (table, row) => table.subarray(row * nClasses(), (row + 1) * nClasses());
const probabilitiesOf = (graph) => rowOf(content.map.probabilities, graph);
const predictedOf = (graph) => probabilitiesOf(graph).reduce((best, value, number, row) => (value > row[best] ? number : best), 0);
const isWrong = (graph) => labelOf(graph) >= 0 && labelOf(graph) !== predictedOf(graph);
const isDrawn = (graph) => content.drawings.nodes[graph] > 0;
const isWhole = (graph) => isDrawn(graph) && !(graph in content.drawings.partial);

function leadOf(graph) {
  const [first, second] = Array.from(probabilitiesOf(graph)).sort((one, other) => other - one);
  return first - (second || 0);
}

// A graph as it is drawn.
function drawnGraph(graph) {
  const { drawings } = content;
  const nodes = [starts.nodes[graph], starts.nodes[graph + 1]];
  const edges = [starts.edges[graph], starts.edges[graph + 1]];
  return {
    n: drawings.nodes[graph],
    directed: content.map.directed,
    x: Array.from(drawings.x.subarray(...nodes), (step) => step / drawings.levels),
    y: Array.from(drawings.y.subarray(...nodes), (step) => step / drawings.levels),
    sources: drawings.sources.subarray(...edges),
    targets: drawings.targets.subarray(...edges),
    weights: drawings.weights && drawings.weights.subarray(...edges),
    numbers: drawings.partial[graph] || null,
  };
}

const sameEdge = (graph, edge, [source, target]) => (graph.sources[edge] === source && graph.targets[edge] === target)
  || (!graph.directed && graph.sources[edge] === target && graph.targets[edge] === source);

function findEdge(graph, ends) {
  for (let edge = 0; edge < graph.sources.length; edge++) if (sameEdge(graph, edge, ends)) return edge;
  return -1;
}

// The graph with its edits: each takes an edge out, or puts it in where there is none.
function shownGraph() {
  const graph = drawnGraph(state.graph);
  graph.origins = Array.from(graph.sources, (_, edge) => edge); // their numbers before edits, -1 for new ones
  for (const ends of state.edits) {
    const edge = findEdge(graph, ends);
    const kept = (values, added) => (edge < 0 ? [...values, added] : Array.from(values).filter((_, place) => place !== edge));
    graph.sources = kept(graph.sources, ends[0]);
    graph.targets = kept(graph.targets, ends[1]);
    graph.origins = kept(graph.origins, -1);
    if (graph.weights) graph.weights = kept(graph.weights, 1);
  }
  return graph;
}

const MOST_WORK = 80000; // pairs of a root and a node, over all networks: a second of computing on a slow machine
const workOn = (graph) => content.model.networks.reduce((sum, network) => sum + workOf(network, content.drawings.nodes[graph]), 0);
const isTooMuch = (graph) => isWhole(graph) && workOn(graph) > MOST_WORK;
const canCompute = (graph) => content.model.networks.length > 0 && isWhole(graph) && !isTooMuch(graph);

// What the networks of this page say of the graph that is shown, or null where they cannot be asked.
function shownPrediction() {
  if (!canCompute(state.graph)) return null;
  const key = `${state.graph}:${state.edits.map((ends) => ends.join("-")).join(",")}`;
  if (!predictions.has(key)) {
    if (predictions.size > 40) predictions.delete(predictions.keys().next().value);
    predictions.set(key, predict(content.model, shownGraph()));
  }
  return predictions.get(key);
}

// Numbers of the nodes or edges of the graph that is shown for the target, or null where it is not explained in full.
function explained(name, kind) {
  const place = content.details.graphs.indexOf(state.graph);
  if (place < 0 || !content.details[name]) return null;
  const from = starts[kind];
  const rows = content.details[name].subarray(from[place] * nClasses(), from[place + 1] * nClasses());
  return Array.from({ length: from[place + 1] - from[place] }, (_, row) => rows[row * nClasses() + state.target]);
}

function nodeValues(name) {
  const found = shownPrediction();
  if (name === "response") return found ? responseValues(found) : null;
  if (name === "share" && found && (state.edits.length || !explained("shares", "detailNodes"))) {
    return Array.from({ length: drawnGraph(state.graph).n }, (_, node) => found.shares[node * nClasses() + state.target]);
  }
  return explained({ share: "shares", vote: "votes", effect: "nodeEffects" }[name], "detailNodes");
}

// What nodes are coloured by: as was chosen, or by shares where that is not known of this graph.
const colouring = () => (nodeValues(state.colouring) || !nodeValues("share") ? state.colouring : "share");

function responseValues(found) {
  const network = content.model.networks[state.network];
  const { elements } = rootView(network, found.networks[state.network], state.root);
  const channels = channelsOf(network.node);
  return Array.from({ length: elements.length / channels }, (_, node) => elements[node * channels + state.channel]);
}

const edgeValues = () => explained(content.details.byShares ? "edgeLogits" : "edgeEffects", "detailEdges");

function filterOf(name) {
  return {
    all: () => true,
    wrong: isWrong,
    uncertain: (graph) => leadOf(graph) < 0.2,
    alike: (graph) => content.map.alike[graph] > 0,
    test: (graph) => !content.map.training[graph],
    detailed: (graph) => content.details.graphs.includes(graph),
  }[name];
}

function matching() {
  const [passes, text] = [filterOf(state.filter), state.search.trim().toLowerCase()];
  return Array.from({ length: nGraphs() }, (_, graph) => passes(graph)
    && (!text || content.map.ids[graph].toLowerCase().includes(text)) && (!state.lasso || state.lasso.has(graph)));
}

function selectGraph(graph, root = -1) {
  const place = content.details.graphs.indexOf(graph);
  const target = place < 0 ? predictedOf(graph) : content.details.targets[place];
  change({ graph, target, edits: [], root: 0 });
  const values = isDrawn(graph) ? nodeValues(colouring()) || [] : [];
  const strongest = values.reduce((best, value, node) => (Math.abs(value) > Math.abs(values[best]) ? node : best), 0);
  const most = hopLimit();
  change({ root: root >= 0 ? root : strongest, hops: most });
}

// The longest way from any root, at least one.
function hopLimit() {
  const graph = shownGraph();
  if (!graph.n) return 1;
  const operator = operatorOf(graph, "laplacian", 1);
  let most = 1;
  for (let node = 0; node < Math.min(graph.n, 60); node++) for (const hops of hopsFrom(operator, node)) if (hops !== Infinity && hops > most) most = hops;
  return most;
}
