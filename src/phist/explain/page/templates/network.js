// The forward pass of one network on one graph: impulses, Chebyshev convolutions with an ELU between them, whitening, tanh, bins,
// standardisation, and the same once more on the embeddings of the roots. It follows phist.nn step by step, in double precision.

const KERNELS = {
  "uniform": (z) => (z >= -1 && z < 1 ? 1 : 0),
  "smooth-rectangle": (z) => {
    const square = Math.min(z * z, 64);
    const eighth = square * square * square * square;
    return 1 / (1 + eighth * eighth * square * square); // |z| to the twentieth, several times as fast as a power
  },
  "gaussian": (z) => Math.exp(Math.max(-0.5 * z * z, -85)),
  "triangle": (z) => Math.max(1 - Math.abs(z), 0),
  "raised-cosine": (z) => 0.5 * (1 + Math.cos(Math.PI * Math.max(-1, Math.min(1, z)))),
};
const INSIDE = 1 - 2 ** -20; // takes an element at an end of [-1, 1] into the outer uniform bin

function elu(x) {
  const y = new Float64Array(x.length);
  for (let place = 0; place < x.length; place++) y[place] = x[place] > 0 ? x[place] : Math.expm1(x[place]);
  return y;
}

const channelsOf = (level) => level.layers[level.layers.length - 1].out;
const binsOf = (level) => (level.centres ? level.centres.length : 1);
const widthOf = (level) => channelsOf(level) * binsOf(level);

// x W_k for every term of a convolution.
function products(layer, x, rows) {
  const size = layer.in * layer.out;
  return Array.from({ length: layer.order }, (_, k) => dense(x, rows, layer.in, layer.weight, k * size, layer.out));
}

// The convolutions of a level, given the products of the first.
function responses(level, operator, terms) {
  let x = null;
  level.layers.forEach((layer, number) => {
    const own = number === 0 ? terms : products(layer, elu(x), operator.n);
    x = clenshaw(operator, own, layer.out);
    for (let place = 0; place < x.length; place++) x[place] += layer.bias[place % layer.out];
  });
  return x; // (nodes, channels)
}

// Mean and variance of each channel over several tables of rows, each table with its weight.
function momentsOf(tables, weights, channels) {
  const [mean, variance] = [new Float64Array(channels), new Float64Array(channels)];
  const rows = tables[0].length / channels;
  const total = weights.reduce((sum, weight) => sum + weight, 0) * rows;
  tables.forEach((table, number) => {
    const share = weights[number] / total;
    for (let place = 0; place < table.length; place++) mean[place % channels] += share * table[place];
  });
  tables.forEach((table, number) => {
    const share = weights[number] / total;
    for (let place = 0; place < table.length; place++) variance[place % channels] += share * (table[place] - mean[place % channels]) ** 2;
  });
  return { mean, variance };
}

// Whitened and squashed into [-1, 1].
function whiten(table, moments, epsilon) {
  const [channels, elements] = [moments.mean.length, new Float64Array(table.length)];
  const scale = moments.variance.map((variance) => 1 / Math.sqrt(variance + epsilon));
  for (let place = 0; place < table.length; place++) {
    const channel = place % channels;
    elements[place] = Math.tanh((table[place] - moments.mean[channel]) * scale[channel]);
  }
  return elements;
}

// What every element adds to the aggregate of its table: (nodes, channels · bins).
function partsOf(level, elements) {
  const [channels, bins] = [channelsOf(level), binsOf(level)];
  const rows = elements.length / channels;
  if (!level.centres) return plainParts(level.kernel, elements, rows, channels);
  const share = level.density ? 1 / rows : 1;
  if (level.kernel === "gaussian" && evenBins(level)) return gaussianParts(level, elements, share);
  const kernel = KERNELS[level.kernel];
  const inside = level.kernel === "uniform" ? INSIDE : 1;
  const narrow = level.widths.map((width) => 1 / width);
  const parts = new Float64Array(elements.length * bins);
  for (let place = 0; place < elements.length; place++) {
    const value = elements[place] * inside;
    for (let bin = 0; bin < bins; bin++) parts[place * bins + bin] = share * kernel((value - level.centres[bin]) * narrow[bin]);
  }
  return parts;
}

const evenBins = ({ centres, widths }) => centres.length > 1 && widths.every((width) => Math.abs(width - widths[0]) < 1e-6)
  && centres.every((centre, bin) => Math.abs(centre - centres[0] - bin * (centres[1] - centres[0])) < 1e-6);

// Of evenly spaced bins every next Gaussian is the last one times a power: two exponentials an element instead of one a bin.
function gaussianParts({ centres, widths }, elements, share) {
  const [bins, apart] = [centres.length, (centres[1] - centres[0]) / widths[0]];
  const falls = Array.from(centres, (_, bin) => share * Math.exp(-0.5 * (bin * apart) ** 2));
  const parts = new Float64Array(elements.length * bins);
  for (let place = 0; place < elements.length; place++) {
    const z = (elements[place] - centres[0]) / widths[0];
    const ratio = Math.exp(z * apart);
    let rung = Math.exp(-0.5 * z * z);
    for (let bin = 0; bin < bins; bin++) {
      parts[place * bins + bin] = rung * falls[bin];
      rung *= ratio;
    }
  }
  return parts;
}

function plainParts(kind, elements, rows, channels) {
  if (kind === "sum") return elements;
  if (kind === "mean") return elements.map((value) => value / rows);
  const largest = new Float64Array(channels).fill(-Infinity);
  elements.forEach((value, place) => { largest[place % channels] = Math.max(largest[place % channels], value); });
  const reached = new Float64Array(channels);
  elements.forEach((value, place) => { if (value === largest[place % channels]) reached[place % channels]++; });
  return elements.map((value, place) => (value === largest[place % channels] ? value / reached[place % channels] : 0));
}

function columnSums(table, width) {
  const sums = new Float64Array(width);
  for (let place = 0; place < table.length; place++) sums[place % width] += table[place];
  return sums;
}

// f_node: what every root sees. ``counts``: how much each node counts as a root.
function nodeLevel(network, operator, counts) {
  const level = network.node;
  const [channels, width] = [channelsOf(level), widthOf(level)];
  const roots = [...counts.keys()].filter((node) => counts[node] > 0);
  const tables = roots.map((root) => impulseResponse(network, operator, root));
  const weights = roots.map((root) => counts[root]);
  const joint = network.statistics === "joint" ? momentsOf(tables, weights, channels) : null;
  const embeddings = new Float64Array(operator.n * width);
  const own = tables.map((table) => momentsOf([table], [1], channels));
  tables.forEach((table, number) => {
    const elements = whiten(table, joint || own[number], network.epsilon);
    const histogram = columnSums(partsOf(level, elements), width);
    embeddings.set(standardise(histogram, network.nodeStandard), roots[number] * width);
  });
  return { roots, weights, embeddings, joint, own };
}

function impulseResponse(network, operator, root) {
  const impulse = new Float64Array(operator.n);
  impulse[root] = 1;
  return responses(network.node, operator, products(network.node.layers[0], impulse, operator.n));
}

function standardise(row, standard) {
  return standard ? row.map((value, place) => (value - standard.mean[place]) / standard.scale[place]) : row;
}

// What each root adds to the mean and the deviation of f_node's responses, which the head sees: (nodes, 2 · channels).
function rootParts(network, seen, n) {
  const channels = channelsOf(network.node);
  const parts = new Float64Array(n * 2 * channels);
  const total = seen.weights.reduce((sum, weight) => sum + weight, 0);
  const shares = seen.weights.map((weight) => weight / total);
  for (let channel = 0; channel < channels; channel++) {
    const squares = seen.own.map((own) => own.variance[channel] + network.epsilon
      + (seen.joint ? (own.mean[channel] - seen.joint.mean[channel]) ** 2 : 0));
    const overall = Math.sqrt(squares.reduce((sum, square, number) => sum + shares[number] * square, 0));
    seen.roots.forEach((root, number) => {
      const at = root * 2 * channels + channel;
      parts[at] = shares[number] * seen.own[number].mean[channel];
      parts[at + channels] = shares[number] * (seen.joint ? squares[number] / overall : Math.sqrt(squares[number]));
    });
  }
  return parts;
}

// f_graph for one draw: the embeddings of its roots, each as often as it was drawn.
function graphLevel(network, operator, terms, counts) {
  const [level, first] = [network.graph, network.graph.layers[0]];
  const drawn = terms.map((term) => term.map((value, place) => value * counts[(place / first.out) | 0]));
  const table = responses(level, operator, drawn);
  const moments = momentsOf([table], [1], channelsOf(level));
  const elements = whiten(table, moments, network.epsilon);
  return { elements, parts: partsOf(level, elements), moments, table };
}

// What each node adds to the mean and the deviation of f_graph's responses: (nodes, 2 · channels).
function responseParts(network, found, n) {
  const channels = channelsOf(network.graph);
  const parts = new Float64Array(n * 2 * channels);
  for (let place = 0; place < found.table.length; place++) {
    const [node, channel] = [(place / channels) | 0, place % channels];
    const deviation = Math.sqrt(found.moments.variance[channel] + network.epsilon);
    const away = found.table[place] - found.moments.mean[channel];
    parts[node * 2 * channels + channel] = found.table[place] / n;
    parts[(node * 2 + 1) * channels + channel] = (away * away + network.epsilon) / deviation / n;
  }
  return parts;
}

// Tables with as many rows beside one another.
function beside(tables, rows) {
  const widths = tables.map((table) => table.length / rows);
  const width = widths.reduce((sum, own) => sum + own, 0);
  const all = new Float64Array(rows * width);
  for (let row = 0; row < rows; row++) {
    let at = row * width;
    tables.forEach((table, number) => {
      all.set(table.subarray(row * widths[number], (row + 1) * widths[number]), at);
      at += widths[number];
    });
  }
  return all;
}

// The looks at a graph over which predictions are averaged: which nodes are embedded, and the draws of them, by places.
function looksAt(network, n) {
  return (network.views[n] || []).map((table) => {
    const rows = Array.from({ length: table.length / n }, (_, number) => table.subarray(number * n, (number + 1) * n));
    return { roots: rows[0], draws: rows.slice(1) };
  });
}

// The same by the numbers of nodes, of which ``order`` has that at each place.
function looksIn(order, looks) {
  const byNode = (row) => {
    const counts = new Float64Array(row.length);
    order.forEach((node, place) => { counts[node] = row[place]; });
    return counts;
  };
  return looks.map(({ roots, draws }) => ({ roots: byNode(roots), draws: draws.map(byNode) }));
}

// How much there is to compute on a graph of so many nodes: pairs of a root and a node.
const workOf = (network, n) => looksAt(network, n).reduce((pairs, look) => pairs + n * look.roots.filter((count) => count > 0).length, 0);

// Everything that is shown of a network on a graph.
function forward(network, graph, order) {
  const operator = operatorOf(graph, network.operator, network.scale);
  const looks = looksIn(order, looksAt(network, graph.n));
  const nDraws = looks.reduce((sum, look) => sum + look.draws.length, 0);
  const width = widthOf(network.graph) + (network.moments ? 2 * (channelsOf(network.graph) + channelsOf(network.node)) : 0);
  const result = {
    operator, width, draws: [], seen: [], parts: new Float64Array(graph.n * width), roots: new Float64Array(graph.n),
    elements: new Float64Array(graph.n * channelsOf(network.graph)),
  };
  for (const look of looks) {
    const seen = nodeLevel(network, operator, look.roots);
    const terms = products(network.graph.layers[0], seen.embeddings, graph.n);
    const ofRoots = network.moments ? rootParts(network, seen, graph.n) : null;
    const total = seen.weights.reduce((sum, weight) => sum + weight, 0);
    seen.roots.forEach((root, number) => { result.roots[root] += (seen.weights[number] / total) * (look.draws.length / nDraws); });
    result.seen.push({ ...seen, terms, draws: look.draws });
    for (const counts of look.draws) {
      const found = graphLevel(network, operator, terms, counts);
      const parts = network.moments ? beside([found.parts, responseParts(network, found, graph.n), ofRoots], graph.n) : found.parts;
      parts.forEach((value, place) => { result.parts[place] += value / nDraws; });
      found.elements.forEach((value, place) => { result.elements[place] += value / nDraws; });
      result.draws.push(columnSums(parts, width));
    }
  }
  return result;
}

// The head: class scores of an embedding.
function scores(network, embedding) {
  const row = standardise(embedding, network.graphStandard);
  return Float64Array.from(network.head.bias, (bias, number) => {
    let sum = bias;
    for (let column = 0; column < row.length; column++) sum += network.head.weight[number * row.length + column] * row[column];
    return sum;
  });
}
