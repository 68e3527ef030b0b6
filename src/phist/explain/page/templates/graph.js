// The graph: nodes by what they do, edges by what the prediction would be without them, the impulse of a root, and edits.

const COLOURINGS = { share: "share in the logit", vote: "root vote", effect: "effect of deletion", response: "response to the root" };
const PADDING = 26;
const NAMED = 60; // the most nodes that have their numbers written
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
  const radius = Math.max(3.5, Math.min(12, width / Math.sqrt(graph.n) / 9));
  drawEdges(context, graph, at, dim, radius);
  drawFront(context, graph, at, hops, radius);
  drawNodes(context, graph, at, dim, radius);
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

function drawEdges(context, graph, at, dim, radius) {
  const values = edgeValues() || [];
  const largest = largestOf(values);
  for (let edge = 0; edge < graph.sources.length; edge++) {
    const [source, target, origin] = [graph.sources[edge], graph.targets[edge], graph.origins[edge]];
    const value = origin < 0 ? NaN : values[origin];
    const share = Number.isFinite(value) && largest > 0 ? Math.abs(value) / largest : 0;
    const known = origin < 0 || !largest || Number.isFinite(value); // of a large graph few effects are computed
    context.globalAlpha = Math.min(dim(source), dim(target)) * (known ? 1 : 0.35);
    context.lineWidth = origin < 0 ? 2.5 : 1.3 + 6.5 * share;
    context.strokeStyle = origin < 0 ? theme.bad : mix(theme.soft, value >= 0 ? theme.accent : theme.warm, Math.min(1, 2 * share));
    context.beginPath();
    if (source === target) context.arc(at(source)[0], at(source)[1] - 11, 9, 0, 2 * Math.PI);
    else if (graph.directed) drawArrow(context, at(source), at(target), radius);
    else { context.moveTo(...at(source)); context.lineTo(...at(target)); }
    context.stroke();
  }
  context.globalAlpha = 1;
}

// A line that ends in a head, which is wider than the line and touches the node.
function drawArrow(context, [x0, y0], [x1, y1], radius) {
  const [angle, length] = [Math.atan2(y1 - y0, x1 - x0), 7 + 1.6 * context.lineWidth];
  const back = (way) => [x1 - way * Math.cos(angle), y1 - way * Math.sin(angle)];
  const [tip, base] = [back(radius), back(radius + length)];
  context.fillStyle = context.strokeStyle;
  context.moveTo(...tip);
  for (const side of [-1, 1]) context.lineTo(base[0] - side * 0.5 * length * Math.sin(angle), base[1] + side * 0.5 * length * Math.cos(angle));
  context.fill();
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(...base);
}

// The nodes that the impulse has just reached, while it spreads.
function drawFront(context, graph, at, hops, radius) {
  if (state.hops >= hopLimit()) return;
  for (let node = 0; node < graph.n; node++) {
    if (hops[node] === state.hops) disc(context, ...at(node), radius + 6, mix(theme.paper, theme.accent, 0.3));
  }
}

function drawNodes(context, graph, at, dim, radius) {
  const values = nodeValues(colouring()) || [];
  const largest = largestOf(values);
  const inside = radius >= 8;
  context.font = `${inside ? 10.5 : 11}px sans-serif`;
  context.textAlign = inside ? "center" : "left";
  for (let node = 0; node < graph.n; node++) {
    const [[x, y], fill] = [at(node), diverging(values[node], largest)];
    context.globalAlpha = dim(node);
    disc(context, x, y, radius, theme.paper);
    disc(context, x, y, radius, fill, theme.ink, 1.1);
    if (graph.n <= NAMED) {
      const faded = dim(node) < 1;
      if (faded) context.globalAlpha = 1; // a number is read before the impulse comes, too
      context.fillStyle = inside && !faded ? readableOn(fill) : theme.soft;
      context.fillText(nodeName(graph, node), ...(inside ? [x, y + 3.8] : [x + radius + 1, y - radius]));
    }
  }
  context.globalAlpha = 1;
  context.textAlign = "left";
  disc(context, ...at(state.root), radius + 3.5, null, theme.ink, 2.4);
}

const nodeName = (graph, node) => String(graph.numbers ? graph.numbers[node] : node);

function drawGraphKey() {
  const values = nodeValues(colouring());
  const largest = values ? largestOf(values) : 0;
  const shade = `linear-gradient(90deg, ${theme.warm}, ${theme.card}, ${theme.accent})`;
  const scale = [make("span", { class: "ends" }, signed(-largest)), make("i", { class: "scale", style: { background: shade } }), make("span", { class: "ends" }, signed(largest))];
  const meaning = colouring() === "response" ? "response in the channel" : `against and for ${content.classes[state.target]}`;
  byId("graph-key").replaceChildren(
    largest ? make("span", {}, ...scale, ` ${meaning}`) : make("span", {}, "Nodes: nothing to show"),
    make("span", {}, make("i", { class: "stroke" }), `wide edge: large change of the ${content.details.byShares ? "logit" : "probability"} without it`),
  );
}
