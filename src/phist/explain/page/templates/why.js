// Why: what the root sees in one channel, which channels matter, and which roots elsewhere see the same.

const SHOWN_CHANNELS = 8;
let effects = []; // of the channels of f_node on the target's logit
let effectsOf = ""; // what they were computed for
let pointed = -1; // the node whose tick the pointer is at

function refreshEffects() {
  const key = [state.graph, state.target, state.network, JSON.stringify(state.edits)].join(":");
  if (key === effectsOf) return;
  effectsOf = key;
  const found = shownPrediction();
  effects = found ? nodeChannelEffects(content.model.networks[state.network], found.networks[state.network], state.target) : [];
  const best = effects.reduce((most, value, channel) => (Math.abs(value) > Math.abs(effects[most]) ? channel : most), 0);
  state.channel = best;
}

function drawWhy() {
  const found = isDrawn(state.graph) ? shownPrediction() : null;
  byId("why-content").hidden = !found;
  byId("why-note").textContent = found ? "" : whyNothing();
  if (!found) return;
  refreshEffects();
  const graph = shownGraph();
  byId("why-lead").textContent = `What node ${nodeName(graph, state.root)} sees as the root: the responses of all nodes to its impulse, as a histogram.`;
  drawHistogram();
  drawChannels();
  drawSimilar(graph);
}

function whyNothing() {
  if (content.model.whyNot) return `Nothing is computed in this page: ${content.model.whyNot}.`;
  if (isTooMuch(state.graph)) return `With ${content.map.nodes[state.graph]} nodes this graph is too large to be computed in a page; what is shown of it was stored.`;
  return "This graph is not shown as a whole, so the page cannot compute what its roots see.";
}

function drawHistogram() {
  const found = shownPrediction();
  if (!found) return;
  const network = content.model.networks[state.network];
  const seen = rootView(network, found.networks[state.network], state.root);
  const [channels, bins] = [channelsOf(network.node), binsOf(network.node)];
  const part = (row) => Array.from(row.slice(state.channel * bins, (state.channel + 1) * bins));
  const own = part(seen.histogram);
  const averages = content.classes.map((_, number) => part(content.averages[state.network].node.subarray(number * channels * bins, (number + 1) * channels * bins)));
  const { context, width, height } = paper(byId("why-canvas"));
  const floor = height - 46;
  const largest = Math.max(...own.map(Math.abs), ...averages.flat().map(Math.abs), 1e-9);
  const left = (bin) => 12 + ((width - 24) * bin) / bins;
  const up = (value) => floor - ((floor - 12) * Math.max(0, value)) / largest;
  context.fillStyle = mix(theme.paper, theme.accent, 0.45);
  own.forEach((value, bin) => context.fillRect(left(bin) + 2, up(value), (width - 24) / bins - 4, floor - up(value)));
  averages.forEach((row, number) => {
    context.strokeStyle = classColour(number);
    context.lineWidth = 2;
    row.forEach((value, bin) => {
      context.beginPath();
      context.moveTo(left(bin) + 2, up(value));
      context.lineTo(left(bin + 1) - 2, up(value));
      context.stroke();
    });
  });
  drawTicks(context, seen.elements, channels, width, floor);
}

// One tick for each node, where its element falls.
function drawTicks(context, elements, channels, width, floor) {
  context.strokeStyle = theme.line;
  context.beginPath();
  context.moveTo(12, floor);
  context.lineTo(width - 12, floor);
  context.stroke();
  const hops = hopsFrom(operatorOf(shownGraph(), "laplacian", 1), state.root);
  for (let node = 0; node < elements.length / channels; node++) {
    const marked = node === pointed || node === state.root;
    const x = tickPlace(elements[node * channels + state.channel], width);
    context.globalAlpha = hops[node] <= state.hops ? 1 : 0.2;
    context.strokeStyle = node === pointed ? theme.bad : theme.ink;
    context.lineWidth = marked ? 2.6 : 1;
    context.beginPath();
    context.moveTo(x, floor + 3);
    context.lineTo(x, floor + (marked ? 20 : 13));
    context.stroke();
  }
  context.globalAlpha = 1;
  context.fillStyle = theme.soft;
  context.font = "11px sans-serif";
  ["−1", "0", "1"].forEach((text, place) => context.fillText(text, 8 + ((width - 24) * place) / 2, floor + 36));
}

const tickPlace = (element, width) => 12 + ((width - 24) * (element + 1)) / 2;

function pointAtTick(event) {
  const found = shownPrediction();
  if (!found) return;
  const canvas = byId("why-canvas");
  const place = placeOf(event, canvas);
  const distances = responseValues(found).map((value) => Math.abs(tickPlace(value, canvas.clientWidth) - place[0]));
  const best = distances.reduce((least, distance, node) => (distance < distances[least] ? node : least), 0);
  const now = distances[best] < 8 && place[1] > canvas.clientHeight - 50 ? best : -1;
  if (now === pointed) return;
  pointed = now;
  drawHistogram();
  drawGraph();
  if (pointed >= 0) markPointed();
}

// The node of the tick, in the graph.
function markPointed() {
  const canvas = byId("graph-canvas");
  const at = placesIn(shownGraph(), canvas.clientWidth, canvas.clientHeight);
  disc(canvas.getContext("2d"), ...at(pointed), 15, null, theme.bad, 3);
}

function drawChannels() {
  const order = [...effects.keys()].sort((one, other) => Math.abs(effects[other]) - Math.abs(effects[one])).slice(0, SHOWN_CHANNELS);
  const largest = largestOf(effects);
  byId("channels").replaceChildren(...order.map((channel) => {
    const share = largest ? (50 * Math.abs(effects[channel])) / largest : 0;
    const side = effects[channel] >= 0 ? { left: "50%", background: theme.accent } : { right: "50%", background: theme.warm };
    return make("button", { type: "button", class: "channel", "aria-pressed": String(channel === state.channel), onclick: () => change({ channel }) },
      `channel ${channel}`, make("span", { class: "track" }, make("span", { class: "fill", style: { ...side, width: `${share}%` } })),
      make("span", { class: "number" }, signed(effects[channel])));
  }));
}

function drawSimilar(graph) {
  const { details } = content;
  const place = details.graphs.indexOf(state.graph);
  const from = place < 0 ? -1 : (starts.detailNodes[place] + state.root) * details.nSimilar;
  const found = from < 0 ? [] : Array.from({ length: details.nSimilar }, (_, number) => [details.similarGraphs[from + number], details.similarNodes[from + number]]);
  const elsewhere = found.filter(([other]) => other !== state.graph && isDrawn(other));
  byId("similar").replaceChildren(...elsewhere.map(([other, node]) => graphButton(other, `graph ${content.map.ids[other]}, node ${node}`, node)));
  const nothing = place < 0 ? "Not known: this graph is not explained in full." : "None are known.";
  if (!elsewhere.length) byId("similar").append(make("p", { class: "note" }, nothing));
}

function drawWhyKey() {
  byId("why-key").replaceChildren(
    make("span", {}, make("i", { style: { background: mix(theme.paper, theme.accent, 0.45) } }), "this root"),
    ...content.classes.slice(0, 12).map((name, number) => make("span", {}, make("i", { style: { background: classColour(number) } }), `mean of ${name}`)),
    make("span", {}, "a tick for each node"),
  );
}

function startWhy() {
  fillSelect(byId("network"), content.model.networks.map((network, number) => [number, network.name]));
  byId("network").addEventListener("change", (event) => change({ network: event.target.selectedIndex }));
  byId("why-canvas").addEventListener("pointermove", pointAtTick);
}
