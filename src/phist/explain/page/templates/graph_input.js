// The graph under the pointer and the keys: roots, the spread of their impulses, and edits.

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

let complaint = ""; // of the last edit, if it could not be made

function toggleEdge(ends) {
  complaint = editComplaint(ends);
  change(complaint ? { complaint } : { edits: [...state.edits, ends] });
}

function editComplaint(ends) {
  const last = content.drawings.nodes[state.graph] - 1;
  const missing = ends.find((node) => !Number.isInteger(node) || node < 0 || node > last);
  if (missing !== undefined) return `There is no node ${missing}; nodes are 0 to ${last}.`;
  return ends[0] === ends[1] ? "An edge joins two nodes; name another one." : "";
}

// The impulse of the root, hop by hop. Whoever wants less motion sees where it ends.
const HOP = 150; // milliseconds
let spreading = 0;

function spread(root) {
  const most = hopLimit();
  clearTimeout(spreading);
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) { change({ root, hops: most }); return; }
  const step = (hops) => {
    change(hops ? { hops } : { root, hops });
    if (hops < most) spreading = setTimeout(() => step(hops + 1), HOP);
  };
  step(0);
}

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
    else if (node >= 0 && node !== state.root) spread(node);
  });
  canvas.addEventListener("pointerdown", (event) => {
    const place = placeOf(event, canvas);
    const node = nearestNode(place);
    if (node >= 0 && node !== state.root) spread(node);
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
    spread(nodeTowards(arrows[event.key]));
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
  byId("hops").addEventListener("input", (event) => { clearTimeout(spreading); change({ hops: Number(event.target.value) }); });
  byId("spread").addEventListener("click", () => spread(state.root));
  byId("edit").addEventListener("click", () => {
    complaint = "";
    change({ editing: !state.editing, edits: [], colouring: !state.editing && details.shares ? "share" : state.colouring });
  });
  byId("undo").addEventListener("click", () => { complaint = ""; change({ edits: state.edits.slice(0, -1) }); });
  byId("reset").addEventListener("click", () => { complaint = ""; change({ edits: [] }); });
  byId("edit-bar").addEventListener("submit", (event) => {
    event.preventDefault();
    toggleEdge([Number(byId("edit-from").value), Number(byId("edit-to").value)]);
  });
  listenToGraphCanvas();
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
