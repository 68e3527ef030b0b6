// Two methods on one dataset: the difference, and graph by graph where their answers differ.
const MOST_ROWS = 300; // more are listed on request

function opponents(label, dataset) {
  const others = Object.keys(data.labels).filter((other) => other !== label && recordsOf(other, dataset).length);
  const choice = make("select", null, { "aria-label": "Method to compare " + label + " with" });
  choice.append(make("option", "choose a method", { value: "" }), ...others.map((other) => make("option", other, { value: other })));
  choice.addEventListener("change", () => choice.value && openComparison(label, choice.value, dataset));
  return block("Where does another method answer otherwise?", others.length ? choice : make("p", "No other method has records here."));
}

function openComparison(label, other, dataset) {
  const pairs = pairedRecords(label, other, dataset);
  const graphs = pairs.flatMap(([one, two]) => comparedGraphs(one, two));
  openDialog(label + " and " + other + " on " + dataset, spokenDifference(label, other, dataset), [dataset, label, "vs", other]);
  const back = make("p", null, { class: "wide-row" });
  for (const method of [label, other]) {
    const link = make("button", "Records of " + method, { type: "button", class: "quiet" });
    link.addEventListener("click", () => openRecords(method, dataset));
    back.append(link, " ");
  }
  body.append(back);
  if (!graphs.length) return body.append(make("p", "They have no test part in common.", { class: "reason" }));
  body.append(block("Graphs by who is right", counts(graphs, label, other)));
  body.append(disagreements(graphs.filter((graph) => graph.first !== graph.second), label, other));
}

// Records of the same fold with the same test part; of several seeds the same, or the first.
function pairedRecords(label, other, dataset) {
  const theirs = recordsOf(other, dataset).filter((record) => record.predicted);
  return recordsOf(label, dataset).filter((record) => record.predicted).flatMap((record) => {
    const same = theirs.filter((one) => one.test === record.test && one.cell.repeat === record.cell.repeat && one.cell.fold === record.cell.fold);
    const found = same.find((one) => one.cell.seed === record.cell.seed) || same[0];
    return found ? [[record, found]] : [];
  });
}

function comparedGraphs(one, two) {
  const test = data.tests[one.test];
  const [truth, first, second] = [test.truth, one.predicted, two.predicted].map(numbers);
  return test.positions.map((graph, place) => ({
    graph, fold: one.cell.fold, classes: test.classes, truth: truth[place], first: first[place], second: second[place],
  }));
}

function spokenDifference(label, other, dataset) {
  const own = difference(label, other, dataset);
  const metric = data.metrics[chosen.metric];
  if (!own) return "No difference can be given: fewer than two folds in common.";
  const [mean, low, high] = own.map((value) => signed(value, digits()));
  return "Difference of " + metric.title + metric.unit + ", positive where " + label + " is better: " + mean + ", with a 95 % interval from " + low + " to " + high;
}

function counts(graphs, label, other) {
  const right = (graph, side) => graph[side] === graph.truth;
  const count = (first, second) => graphs.filter((graph) => right(graph, "first") === first && right(graph, "second") === second).length;
  return pairs([
    ["both right", count(true, true)],
    ["only " + label, count(true, false)],
    ["only " + other, count(false, true)],
    ["neither", count(false, false)],
  ]);
}

function disagreements(graphs, label, other) {
  const element = block(graphs.length + " graphs with different answers");
  element.className = "wide-row";
  if (!graphs.length) return element;
  const list = (shown) => {
    const table = make("table", null, { class: "graphs" });
    const head = table.createTHead().insertRow();
    head.append(...["graph", "fold", "true class", label, other].map((name) => make("th", name, { scope: "col" })));
    const rows = table.createTBody();
    for (const graph of shown) {
      const row = rows.insertRow();
      const answer = (side) => make("td", graph.classes[graph[side]] + (graph[side] === graph.truth ? " ✓" : ""), {
        class: graph[side] === graph.truth ? "gain" : null,
      });
      row.append(make("th", graph.graph, { scope: "row" }), make("td", graph.fold), make("td", graph.classes[graph.truth]), answer("first"), answer("second"));
    }
    return make("div", null, { class: "scroll", tabindex: 0, role: "region", "aria-label": "Graphs with different answers" }, [table]);
  };
  let table = list(graphs.slice(0, MOST_ROWS));
  element.append(make("p", "By position in the dataset, from 0; ✓ marks the right answer."), table);
  if (graphs.length > MOST_ROWS) {
    const more = make("button", "Show all " + graphs.length, { type: "button", class: "quiet" });
    more.addEventListener("click", () => { table.replaceWith((table = list(graphs))); more.remove(); });
    element.append(more);
  }
  return element;
}
