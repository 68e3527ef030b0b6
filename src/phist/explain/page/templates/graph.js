// The graph: nodes by what they do, edges by what the prediction would be without them, the impulse of a root, and edits.

const COLOURINGS = { share: "share in the logit", vote: "root vote", effect: "effect of deletion", response: "response to the root" };
const PADDING = 26;
let drag = null; // { from: node, to: place } while an edge is drawn

function placesIn(graph, width, height) {
  const size = Math.min(width, height * 1.25) - 2 * PADDING;
  const flat = Math.min(1, (height - 2 * PADDING) / size);
  return (node) => [width / 2 + (graph.x[node] - 0.5) * size, height / 2 + (graph.y[node] - 0.5) * size * flat];
}

function drawGraph() {
  const { context, width, height } = paper(byId("graph-canvas"));
  const graph = shownGraph();
  if (!graph.n) return;
  const at = placesIn(graph, width, height);
  const hops = hopsFrom(operatorOf(graph, "laplacian", 1), state.root);
  const dim = (node) => (hops[node] <= state.hops ? 1 : 0.22);
  drawEdges(context, graph, at, dim);
  drawNodes(context, graph, at, dim, Math.max(3.5, Math.min(11, (width / Math.sqrt(graph.n)) / 11)));
  if (drag) {
    context.strokeStyle = theme.accent;
    context.setLineDash([5, 4]);
    context.beginPath();
    context.moveTo(...at(drag.from));
    context.lineTo(...drag.to);
    context.stroke();
    context.setLineDash([]);
  }
}

function drawEdges(context, graph, at, dim) {
  const values = edgeValues() || [];
  const largest = largestOf(values);
  for (let edge = 0; edge < graph.sources.length; edge++) {
    const [source, target, origin] = [graph.sources[edge], graph.targets[edge], graph.origins[edge]];
    const value = origin < 0 ? NaN : values[origin];
    const share = Number.isFinite(value) && largest > 0 ? Math.abs(value) / largest : 0;
    context.globalAlpha = Math.min(dim(source), dim(target));
    context.lineWidth = origin < 0 ? 2.5 : 1.3 + 6.5 * share;
    context.strokeStyle = origin < 0 ? theme.bad : mix(theme.soft, value >= 0 ? theme.accent : theme.warm, Math.min(1, 2 * share));
    context.beginPath();
    if (source === target) context.arc(at(source)[0], at(source)[1] - 11, 9, 0, 2 * Math.PI);
    else { context.moveTo(...at(source)); context.lineTo(...at(target)); }
    context.stroke();
    if (graph.directed && source !== target) arrowHead(context, at(source), at(target));
  }
  context.globalAlpha = 1;
}

function arrowHead(context, [x0, y0], [x1, y1]) {
  const angle = Math.atan2(y1 - y0, x1 - x0);
  const tip = [x1 - 11 * Math.cos(angle), y1 - 11 * Math.sin(angle)];
  context.fillStyle = context.strokeStyle;
  context.beginPath();
  context.moveTo(...tip);
  for (const side of [-0.4, 0.4]) context.lineTo(tip[0] - 9 * Math.cos(angle + side), tip[1] - 9 * Math.sin(angle + side));
  context.fill();
}

function drawNodes(context, graph, at, dim, radius) {
  const values = nodeValues(state.colouring) || [];
  const largest = largestOf(values);
  for (let node = 0; node < graph.n; node++) {
    context.globalAlpha = dim(node);
    disc(context, ...at(node), radius, diverging(values[node], largest), theme.ink, 1.1);
  }
  context.globalAlpha = 1;
  disc(context, ...at(state.root), radius + 3.5, null, theme.ink, 2.4);
  if (graph.n > 60) return;
  context.font = "11px sans-serif";
  context.fillStyle = theme.soft;
  context.strokeStyle = theme.paper; // keeps a name apart from the edge it lies on
  context.lineWidth = 3;
  for (let node = 0; node < graph.n; node++) {
    const [x, y] = at(node);
    for (const write of ["strokeText", "fillText"]) context[write](nodeName(graph, node), x + radius + 1, y - radius);
  }
}

const nodeName = (graph, node) => String(graph.numbers ? graph.numbers[node] : node);

function drawBars() {
  const [found, whole] = [shownPrediction(), probabilitiesOf(state.graph)];
  const edited = state.edits.length > 0;
  const before = content.map.said ? rowOf(content.map.said, state.graph) : null;
  byId("bars").replaceChildren(...content.classes.map((name, number) => {
    const value = edited ? found.probabilities[number] : whole[number];
    const track = make("div", { class: "track" }, make("div", { class: "fill", style: { width: percent(value).replace(" ", ""), background: classColour(number) } }));
    if (found) {
      const draws = found.draws.map((row) => row[number]);
      const [low, high] = [Math.min(...draws), Math.max(...draws)];
      track.append(make("div", { class: "spread", style: { left: `${100 * low}%`, width: `${100 * (high - low)}%` } }));
    }
    if (edited) track.append(make("div", { class: "said", style: { left: `${100 * before[number]}%` } }));
    const text = edited ? `${percent(value)} (was ${percent(before[number])})` : percent(value);
    return make("div", { class: "bar", "data-value": value }, make("span", { class: "name", title: name }, name), track, make("span", { class: "number" }, text));
  }));
}

function sayGraph() {
  const graph = shownGraph();
  const label = labelOf(state.graph);
  const truth = label >= 0 ? `, labelled ${content.classes[label]}${isWrong(state.graph) ? " (a mistake)" : ""}` : "";
  byId("graph-title").textContent = `Graph ${content.map.ids[state.graph]}: predicted ${content.classes[predictedOf(state.graph)]}${truth}`;
  const lines = [];
  if (!graph.n) lines.push("This graph is too large for the page and is not drawn.");
  if (graph.numbers) lines.push(`The ${graph.n} nodes around the strongest one of ${content.map.nodes[state.graph]}.`);
  if (!content.details.graphs.includes(state.graph)) lines.push("Not explained in full: name it with --graph to have the effects of its nodes and edges.");
  if (state.edits.length) lines.push(`${state.edits.length} ${state.edits.length === 1 ? "edge" : "edges"} edited. ${recomputed()}`);
  else if (shownPrediction()) lines.push("Bars are the whole model; the dark line is the spread of its networks over draws of roots.");
  if (graph.n) lines.push(`Root: node ${nodeName(graph, state.root)}.`);
  byId("graph-note").textContent = lines.join(" ");
}

// What an edit is computed by.
function recomputed() {
  const { model } = content;
  const count = `${model.networks.length} ${model.networks.length === 1 ? "network" : "networks"}`;
  if (model.whole) return `The whole model is computed here (${count}).`;
  const rest = model.leftOut ? ` and ${model.leftOut} more networks` : "";
  return `Computed here: ${count} under linear heads, which weigh ${percent(model.covered)} in the prediction; other members${rest} are not.`;
}

function drawGraphControls() {
  byId("target").selectedIndex = state.target;
  const [slider, most] = [byId("hops"), isDrawn(state.graph) ? hopLimit() : 1];
  slider.max = most;
  slider.value = Math.min(state.hops, most);
  byId("hops-value").textContent = `${slider.value} of ${most}`;
  byId("edit").disabled = !canCompute(state.graph) || !content.agrees;
  byId("edit").setAttribute("aria-pressed", String(state.editing));
  byId("edit-bar").hidden = !state.editing;
  byId("graph-canvas").classList.toggle("editing", state.editing);
  for (const id of ["undo", "reset"]) byId(id).disabled = !state.edits.length;
  for (const id of ["edit-from", "edit-to"]) byId(id).max = Math.max(0, content.drawings.nodes[state.graph] - 1);
}

function drawGraphKey() {
  byId("graph-key").replaceChildren(
    make("span", {}, make("i", { style: { background: theme.accent } }), "speaks for the class"),
    make("span", {}, make("i", { style: { background: theme.warm } }), "against it"),
    make("span", {}, `Width of an edge: the ${content.details.byShares ? "logit" : "probability"} less that without it`),
  );
}

function nearestNode(place, most = 18) {
  const box = byId("graph-canvas").getBoundingClientRect();
  const graph = shownGraph();
  const at = placesIn(graph, box.width, box.height);
  let [best, least] = [-1, most];
  for (let node = 0; node < graph.n; node++) {
    const distance = Math.hypot(at(node)[0] - place[0], at(node)[1] - place[1]);
    if (distance < least) [best, least] = [node, distance];
  }
  return best;
}

function nearestEdge([x, y]) {
  const box = byId("graph-canvas").getBoundingClientRect();
  const graph = shownGraph();
  const at = placesIn(graph, box.width, box.height);
  let [best, least] = [-1, 9];
  for (let edge = 0; edge < graph.sources.length; edge++) {
    const [[x0, y0], [x1, y1]] = [at(graph.sources[edge]), at(graph.targets[edge])];
    const along = ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / ((x1 - x0) ** 2 + (y1 - y0) ** 2 || 1);
    const share = Math.max(0, Math.min(1, along));
    const distance = Math.hypot(x0 + share * (x1 - x0) - x, y0 + share * (y1 - y0) - y);
    if (distance < least) [best, least] = [edge, distance];
  }
  return best < 0 ? null : [graph.sources[best], graph.targets[best]];
}

const toggleEdge = (ends) => change({ edits: [...state.edits, ends] });

// The nearest node in the direction of an arrow key.
function nodeTowards([right, down]) {
  const graph = shownGraph();
  let [best, least] = [state.root, Infinity];
  for (let node = 0; node < graph.n; node++) {
    const [x, y] = [graph.x[node] - graph.x[state.root], graph.y[node] - graph.y[state.root]];
    const ahead = x * right + y * down;
    const cost = Math.hypot(x, y) + 2 * Math.abs(x * down - y * right);
    if (ahead > 1e-6 && cost < least) [best, least] = [node, cost];
  }
  return best;
}

function listenToGraphCanvas() {
  const canvas = byId("graph-canvas");
  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  canvas.addEventListener("pointermove", (event) => {
    const node = nearestNode(placeOf(event, canvas));
    if (drag) { drag.to = placeOf(event, canvas); drawGraph(); }
    else if (node >= 0 && node !== state.root) change({ root: node });
  });
  canvas.addEventListener("pointerdown", (event) => {
    const place = placeOf(event, canvas);
    const node = nearestNode(place);
    if (node >= 0) change({ root: node });
    if (!state.editing) return;
    canvas.setPointerCapture(event.pointerId);
    if (node >= 0) drag = { from: node, to: place };
    else if (nearestEdge(place)) toggleEdge(nearestEdge(place));
  });
  canvas.addEventListener("pointerup", (event) => {
    const [from, node] = [drag && drag.from, nearestNode(placeOf(event, canvas))];
    drag = null;
    if (from !== null && node >= 0 && node !== from) toggleEdge([from, node]);
    else drawGraph();
  });
  canvas.addEventListener("keydown", (event) => {
    if (!arrows[event.key]) return;
    event.preventDefault();
    change({ root: nodeTowards(arrows[event.key]) });
  });
}

function startGraph() {
  const { details, model } = content;
  const there = Object.keys(COLOURINGS).filter((name) => ({
    share: details.shares, vote: details.votes, effect: true, response: model.networks.length,
  }[name]));
  state.colouring = details.byShares ? "share" : "effect";
  fillSelect(byId("colouring"), there.map((name) => [name, COLOURINGS[name]]), there.indexOf(state.colouring));
  fillSelect(byId("target"), content.classes.map((name, number) => [number, name]));
  byId("colouring").addEventListener("change", (event) => change({ colouring: event.target.value }));
  byId("target").addEventListener("change", (event) => change({ target: event.target.selectedIndex }));
  byId("hops").addEventListener("input", (event) => change({ hops: Number(event.target.value) }));
  byId("edit").addEventListener("click", () => change({
    editing: !state.editing, edits: [], colouring: !state.editing && details.shares ? "share" : state.colouring }));
  byId("undo").addEventListener("click", () => change({ edits: state.edits.slice(0, -1) }));
  byId("reset").addEventListener("click", () => change({ edits: [] }));
  byId("edit-bar").addEventListener("submit", (event) => {
    event.preventDefault();
    toggleEdge([Number(byId("edit-from").value), Number(byId("edit-to").value)]);
  });
  listenToGraphCanvas();
}
