// What is said of the graph: the bars of the classes, and in words.

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
  const [graph, label, predicted] = [shownGraph(), labelOf(state.graph), predictedOf(state.graph)];
  const dot = (number) => make("i", { class: "dot", style: { background: classColour(number) } });
  const truth = label >= 0 ? [" · labelled ", dot(label), content.classes[label]] : [];
  const mistake = isWrong(state.graph) ? [" · ", make("b", { class: "wrong" }, "a mistake")] : [];
  const trained = content.map.training[state.graph] ? " · trained on" : "";
  byId("graph-title").textContent = `Graph ${content.map.ids[state.graph]}`;
  byId("graph-said").replaceChildren("predicted ", dot(predicted), content.classes[predicted], ...truth, ...mistake,
    ` · ${counted(content.map.nodes[state.graph], "node")}, ${counted(content.map.edges[state.graph], "edge")}${trained}`);
  byId("graph-note").textContent = notesOf(graph).join(" ");
}

function notesOf(graph) {
  const notes = [];
  if (complaint) notes.push(complaint);
  if (!graph.n) notes.push("This graph is too large for the page and is not drawn.");
  if (graph.numbers) notes.push(`Shown are the ${graph.n} nodes around the strongest one of ${content.map.nodes[state.graph]}.`);
  if (!content.details.graphs.includes(state.graph)) notes.push("Not explained in full: name it with --graph to have the effects of its nodes and edges.");
  if (state.edits.length) notes.push(`${counted(state.edits.length, "edge")} edited. ${recomputed()}`);
  else if (state.editing) notes.push(`Click an edge to take it out, drag from node to node to draw one. ${recomputed()}`);
  else if (shownPrediction()) notes.push(`Bars are the whole model; the thin line is the spread of ${content.model.whole ? "it" : "its networks"} over draws of roots.`);
  if (graph.n) notes.push(`Root: node ${nodeName(graph, state.root)}.`);
  return notes;
}

// What an edit is computed by.
function recomputed() {
  const { model } = content;
  const count = counted(model.networks.length, "network");
  if (model.whole) return `The whole model is computed here (${count}).`;
  const rest = model.leftOut ? ` and ${counted(model.leftOut, "more network")}` : "";
  return `Computed here: ${count} under linear heads, which weigh ${percent(model.covered)} in the prediction; other members${rest} are not.`;
}
