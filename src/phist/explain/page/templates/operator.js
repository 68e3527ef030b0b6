// The matrix that moves signals along edges, and polynomials of it. A graph is
// { n, sources, targets, weights or null, directed }: an undirected edge is listed once.

function operatorOf(graph, kind, scale) {
  const arcs = [];
  for (let edge = 0; edge < graph.sources.length; edge++) {
    const [source, target] = [graph.sources[edge], graph.targets[edge]];
    const weight = graph.weights ? graph.weights[edge] : 1;
    arcs.push([source, target, weight]);
    if (!graph.directed && source !== target) arcs.push([target, source, weight]);
  }
  const degrees = new Float64Array(graph.n);
  for (const [source, , weight] of arcs) degrees[source] += weight;
  const inverse = degrees.map((degree) => (degree > 0 ? 1 / degree : 0));
  const factor = kind === "laplacian"
    ? (source, target) => -scale * Math.sqrt(inverse[source]) * Math.sqrt(inverse[target])
    : (source) => -scale * inverse[source];
  arcs.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
  const counts = new Uint32Array(graph.n);
  for (const [source] of arcs) counts[source]++;
  return {
    n: graph.n,
    starts: startsOf(counts),
    targets: Uint32Array.from(arcs, (arc) => arc[1]),
    values: Float64Array.from(arcs, ([source, target, weight]) => factor(source, target) * weight),
  };
}

// L x for signals of several channels, a row of them for each node.
function multiply(operator, x, width) {
  const y = new Float64Array(operator.n * width);
  for (let node = 0; node < operator.n; node++) {
    for (let arc = operator.starts[node]; arc < operator.starts[node + 1]; arc++) {
      const [value, from] = [operator.values[arc], operator.targets[arc] * width];
      for (let channel = 0; channel < width; channel++) y[node * width + channel] += value * x[from + channel];
    }
  }
  return y;
}

// The sum of T_k(L) u_k for Chebyshev polynomials T_k, by Clenshaw's recursion from the last to the first.
function clenshaw(operator, terms, width) {
  let [now, before] = [new Float64Array(operator.n * width), new Float64Array(operator.n * width)];
  for (let k = terms.length - 1; k >= 1; k--) {
    const moved = multiply(operator, now, width);
    const next = terms[k].map((value, place) => value + 2 * moved[place] - before[place]);
    [now, before] = [next, now];
  }
  const moved = multiply(operator, now, width);
  return terms[0].map((value, place) => value + moved[place] - before[place]);
}

// x W for rows of x; W has as many columns as ``out``, and begins at ``offset`` of ``weights``.
function dense(x, rows, width, weights, offset, out) {
  const y = new Float64Array(rows * out);
  for (let row = 0; row < rows; row++) {
    for (let channel = 0; channel < width; channel++) {
      const value = x[row * width + channel];
      if (value === 0) continue; // an impulse is zero nearly everywhere
      const from = offset + channel * out;
      for (let column = 0; column < out; column++) y[row * out + column] += value * weights[from + column];
    }
  }
  return y;
}

// Hops from a node to all others, Infinity where there is no way.
function hopsFrom(operator, root) {
  const hops = new Float64Array(operator.n).fill(Infinity);
  hops[root] = 0;
  const queue = [root];
  for (let place = 0; place < queue.length; place++) {
    const node = queue[place];
    for (let arc = operator.starts[node]; arc < operator.starts[node + 1]; arc++) {
      const next = operator.targets[arc];
      if (hops[next] === Infinity) {
        hops[next] = hops[node] + 1;
        queue.push(next);
      }
    }
  }
  return hops;
}
