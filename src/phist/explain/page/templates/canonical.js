// The order of nodes in which models see a graph, whatever their numbers: roots are drawn by places in it. It follows
// phist.graphs.canonical, whose hashes have 64 bits.

const wrap = (value) => BigInt.asUintN(64, value);
const salt = (k) => wrap(0x9E3779B97F4A7C15n * k);
const [OWN, OUT, IN, LOOP, MARK] = [3n, 5n, 7n, 11n, 29n].map(salt);
const MOST_LOOKED_AT = 1 << 18; // nodes and arcs, over all rounds
const LEAST_ROUNDS = 3;

function mixed(value) { // splitmix64
  let hash = wrap(value + 0x9E3779B97F4A7C15n);
  hash = wrap((hash ^ (hash >> 30n)) * 0xBF58476D1CE4E5B9n);
  hash = wrap((hash ^ (hash >> 27n)) * 0x94D049BB133111EBn);
  return hash ^ (hash >> 31n);
}

const weightCode = (weight) => mixed(new BigUint64Array(new Float64Array([weight]).buffer)[0]);

// Which colours go where in a round: [from, to, code], in both directions.
function messagesOf(graph) {
  const [messages, one] = [[], weightCode(1)];
  for (let edge = 0; edge < graph.sources.length; edge++) {
    const [source, target] = [graph.sources[edge], graph.targets[edge]];
    const code = graph.weights ? weightCode(graph.weights[edge]) : one;
    messages.push([target, source, code + OUT]);
    if (graph.directed || source !== target) messages.push([source, target, code + (graph.directed ? IN : OUT)]);
  }
  return messages;
}

function firstColours(graph) {
  const colours = new BigUint64Array(graph.n);
  for (let edge = 0; edge < graph.sources.length; edge++) {
    if (graph.sources[edge] === graph.targets[edge]) colours[graph.sources[edge]] = mixed(weightCode(graph.weights ? graph.weights[edge] : 1) + LOOP);
  }
  return colours;
}

function refined(colours, messages) {
  const sums = new BigUint64Array(colours.length);
  for (const [from, to, code] of messages) sums[to] += mixed(colours[from] + code);
  return colours.map((colour, node) => mixed(mixed(colour + OWN) + sums[node]));
}

// The number of the node at each place. Of nodes that colours do not tell apart one is marked, until all differ.
function canonicalOrder(graph) {
  const messages = messagesOf(graph);
  let [colours, ranks, count, work, rounds] = [firstColours(graph), [], 0, MOST_LOOKED_AT, 0];
  while (count < graph.n && (work > 0 || rounds < LEAST_ROUNDS)) {
    colours = refined(colours, messages);
    work -= graph.n + messages.length;
    rounds++;
    ranks = [...colours.keys()].sort((one, other) => (colours[one] < colours[other] ? -1 : colours[one] > colours[other] ? 1 : one - other));
    const before = count;
    const alike = ranks.filter((node, place) => place > 0 && colours[node] === colours[ranks[place - 1]]);
    count = graph.n - alike.length;
    if (count === before) {
      const node = ranks[ranks.indexOf(alike[0]) - 1];
      colours[node] = mixed(colours[node] + MARK);
      count = 0;
    }
  }
  return ranks;
}
