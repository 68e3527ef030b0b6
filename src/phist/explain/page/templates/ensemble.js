// What the networks say together, and whose doing it is. Logits are centred and weighed as in phist.explain.

function softmax(row) {
  const largest = Math.max(...row);
  const powers = Array.from(row, (value) => Math.exp(value - largest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

const meanOf = (rows) => Array.from(rows[0], (_, column) => rows.reduce((sum, row) => sum + row[column], 0) / rows.length);
const atTemperature = (row, temperature, least) => softmax(row.map((value) => Math.log(Math.max(value, least)) / temperature));

// Probabilities of the classes from the scores of every network.
function combine(model, rows) {
  let total = new Array(rows[0].length).fill(0);
  for (const bag of model.bags) {
    const own = rows.filter((_, number) => model.networks[number].bag === bag.label);
    const logs = own.map((row) => softmax(row).map((value) => Math.log(Math.max(value, model.least))));
    const tempered = atTemperature(softmax(meanOf(logs)), bag.temperature, model.least);
    total = total.map((sum, number) => sum + bag.weight * tempered[number]);
  }
  return model.whole ? atTemperature(total, model.temperature, model.least) : total;
}

// All networks on a graph: probabilities, those of each draw, and the shares of the nodes in the logits: (nodes, classes).
function predict(model, graph) {
  const order = canonicalOrder(graph);
  const found = model.networks.map((network) => forward(network, graph, order));
  const byDraw = found.map((one, number) => one.draws.map((draw) => scores(model.networks[number], draw)));
  const nDraws = Math.max(...byDraw.map((rows) => rows.length));
  const draws = Array.from({ length: nDraws }, (_, draw) => combine(model, byDraw.map((rows) => rows[draw % rows.length])));
  const nClasses = model.networks[0].head.bias.length;
  const shares = new Float64Array(graph.n * nClasses);
  found.forEach((one, number) => addShares(shares, model.networks[number], one, graph.n, nClasses));
  return { networks: found, probabilities: combine(model, byDraw.map(meanOf)), draws, shares, nClasses };
}

function addShares(shares, network, found, n, nClasses) {
  const [width, histogram, usual] = [found.width, widthOf(network.graph), network.graphStandard ? network.graphStandard.mean : null];
  const half = histogram + (width - histogram) / 2;
  for (let node = 0; node < n; node++) {
    for (let column = 0; column < width; column++) {
      const ordinary = column < histogram ? (network.counts ? 1 / network.meanNodes : 1 / n) : column < half ? 1 / n : found.roots[node];
      const away = found.parts[node * width + column] - (usual ? usual[column] * ordinary : 0);
      for (let number = 0; number < nClasses; number++) shares[node * nClasses + number] += network.slopes[number * width + column] * away;
    }
  }
}

const logitsOf = (network, embedding) => Array.from(network.base, (base, number) => {
  let sum = base;
  for (let column = 0; column < embedding.length; column++) {
    const usual = network.graphStandard ? network.graphStandard.mean[column] : 0;
    sum += network.slopes[number * embedding.length + column] * (embedding[column] - usual);
  }
  return sum;
});

// Channels of f_graph: what the bins of each, and the moments of its responses, add to the logit of a class. They add up.
function graphChannelEffects(network, found, target) {
  const [channels, bins, histogram] = [channelsOf(network.graph), binsOf(network.graph), widthOf(network.graph)];
  const mean = meanOf(found.draws);
  const effect = (column) => {
    const usual = network.graphStandard ? network.graphStandard.mean[column] : 0;
    return network.slopes[target * found.width + column] * (mean[column] - usual);
  };
  return Array.from({ length: channels }, (_, channel) => {
    let sum = 0;
    for (let bin = 0; bin < bins; bin++) sum += effect(channel * bins + bin);
    return network.moments ? sum + effect(histogram + channel) + effect(histogram + channels + channel) : sum;
  });
}

// Channels of f_node: the logit of a class less that with the channel at its average in the embeddings of all roots.
function nodeChannelEffects(network, found, target) {
  const [channels, bins, width] = [channelsOf(network.node), binsOf(network.node), widthOf(network.node)];
  const [first, n, histogram] = [network.graph.layers[0], found.operator.n, widthOf(network.graph)];
  const before = logitsOf(network, meanOf(found.draws))[target];
  return Array.from({ length: channels }, (_, channel) => {
    const rows = [];
    for (const seen of found.seen) {
      const own = seen.embeddings.map((value, place) => (((place % width) / bins) | 0) === channel ? value : 0);
      const removed = products(first, own, n);
      const terms = seen.terms.map((term, k) => term.map((value, place) => value - removed[k][place]));
      for (const counts of seen.draws) rows.push(withoutChannel(network, found, terms, counts, rows.length, histogram));
    }
    return before - logitsOf(network, meanOf(rows))[target];
  });
}

function withoutChannel(network, found, terms, counts, draw, histogram) {
  const other = graphLevel(network, found.operator, terms, counts);
  const embedding = Float64Array.from(found.draws[draw]);
  embedding.set(columnSums(other.parts, histogram));
  if (network.moments) embedding.set(columnSums(responseParts(network, other, found.operator.n), 2 * channelsOf(network.graph)), histogram);
  return embedding;
}

// What one root sees: its elements (nodes, channels) and its histogram (channels · bins).
function rootView(network, found, root) {
  const table = impulseResponse(network, found.operator, root);
  const seen = found.seen.find((one) => one.roots.includes(root)) || found.seen[0];
  const moments = seen.joint || momentsOf([table], [1], channelsOf(network.node));
  const elements = whiten(table, moments, network.epsilon);
  return { elements, histogram: columnSums(partsOf(network.node, elements), widthOf(network.node)) };
}
