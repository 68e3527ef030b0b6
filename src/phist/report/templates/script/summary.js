// The summary and the differences of the method that is compared with the others.
const STRONGEST = 6; // opponents that the summary shows at once

function showSummary() {
  const found = view().findings[chosen.against];
  if (!found || !document.getElementById("finding")) return;
  document.getElementById("finding").textContent = found.sentence;
  const sums = [1, 2, 3].map((place) => found.versus.reduce((sum, row) => sum + row[place].length, 0));
  const tiles = [
    ["mean rank of " + found.ranked[0] + " methods on " + found.ranked[1] + " datasets", found.rank === null ? "–" : found.rank.toFixed(1)],
    ["wins: interval above zero", sums[0]], ["ties: interval holds zero", sums[1]], ["losses: interval below zero", sums[2]],
  ];
  document.getElementById("score").replaceChildren(...tiles.map(([name, value]) => make("div", null, {}, [make("dt", name), make("dd", value)])));
  const frame = document.getElementById("versus");
  document.getElementById("score").hidden = !found.versus.length;
  frame.replaceChildren();
  if (!found.versus.length) return;
  frame.append(versusTable(found.versus.slice(0, STRONGEST), "The strongest others"));
  if (found.versus.length > STRONGEST) {
    const rest = make("details", null, { class: "group" }, [make("summary", "All " + found.versus.length + " other methods")]);
    rest.append(versusTable(found.versus, "All other methods"));
    rest.addEventListener("toggle", fitTables);
    frame.append(rest);
  }
}

function versusTable(rows, name) {
  const table = make("table", null, { class: "versus" });
  table.append(make("caption", name + " against " + chosen.against + ": datasets won, tied and lost by it; mean difference over datasets [95 % interval]"));
  const head = table.createTHead().insertRow();
  head.append(...["method", "won, tied, lost", "mean difference"].map((text) => make("th", text, { scope: "col" })));
  const lines = table.createTBody();
  for (const [label, wins, ties, losses, over] of rows) {
    const row = lines.insertRow();
    row.dataset.family = data.labels[label];
    row.append(make("th", null, { scope: "row" }, [familySign(data.labels[label]), label]));
    row.append(make("td", null, {}, [outcomeBar(wins, ties, losses)]));
    const kind = over && over[1] > 0 ? "gain" : over && over[2] < 0 ? "loss" : null;
    const [mean, low, high] = (over || []).map((value) => signed(value, digits()));
    row.append(make("td", null, {}, over ? [make("span", mean, { class: kind }), " ", make("span", "[" + low + ", " + high + "]", { class: "interval" })] : ["–"]));
  }
  return make("div", null, { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, [table]);
}

function outcomeBar(wins, ties, losses) {
  const total = wins.length + ties.length + losses.length;
  const bar = make("span", null, { class: "outcomes" });
  for (const [kind, names] of [["won", wins], ["tied", ties], ["lost", losses]]) {
    if (!names.length) continue;
    bar.append(make("span", names.length, { class: kind, style: "flex-grow: " + names.length / total, title: kind + ": " + names.join(", ") }));
  }
  bar.append(make("span", wins.length + " won, " + ties.length + " tied, " + losses.length + " lost", { class: "spoken" }));
  return bar;
}

function showDifferences() {
  const frame = document.getElementById("differences-table");
  if (!frame) return;
  const against = chosen.against;
  const others = Object.keys(data.labels).filter((other) => other !== against);
  const columns = data.datasets.filter((dataset) => others.some((other) => difference(against, other, dataset)));
  if (!columns.length) return frame.replaceChildren(make("p", "No two methods share two folds of a dataset, so that differences have no intervals."));
  const about = against + " compared with every other method by " + data.metrics[chosen.metric].title + ": positive where " + against +
    " is better. Intervals: 95 percent, paired over folds, widened by Nadeau and Bengio's correction because folds share most of their training graphs; not corrected for the number of comparisons. A difference opens the graphs on which the two disagree. Choose another method in the bar above.";
  const name = "table-differences";
  const table = make("table", null, { id: name, "data-sortable": "" });
  const head = table.createTHead().insertRow();
  head.append(...["method", ...columns].map((column, place) => make("th", null, {
    scope: "col", "aria-sort": "none", "data-column": place ? column : null,
  }, [make("button", column, { type: "button" })])));
  const rows = table.createTBody();
  for (const other of others) {
    if (!columns.some((dataset) => difference(against, other, dataset))) continue;
    const row = rows.insertRow();
    row.dataset.family = data.labels[other];
    row.append(make("th", null, { scope: "row", "data-value": other }, [familySign(data.labels[other]), other]));
    row.append(...columns.map((dataset) => differenceCell(against, other, dataset)));
  }
  const scroll = make("div", null, { class: "scroll", tabindex: 0, role: "region", "aria-label": "Differences" }, [table]);
  frame.replaceChildren(make("p", about), scroll, downloadButtons(name, "differences-" + chosen.metric));
  makeSortable(table);
}

function differenceCell(against, other, dataset) {
  const own = difference(against, other, dataset);
  if (!own) return make("td", null, { "data-column": dataset, "data-text": "–" }, [make("span", "–", { class: "none" })]);
  const [mean, low, high] = own.map((value) => signed(value, digits()));
  const kind = own[1] > 0 ? " gain" : own[2] < 0 ? " loss" : "";
  const button = make("button", null, {
    type: "button", class: "figure", "data-label": against, "data-other": other, "data-dataset": dataset,
    "aria-label": against + " minus " + other + " on " + dataset + ": " + mean + " " + low + " to " + high + "; open where they disagree",
  }, [make("span", mean, { class: "mean" + kind }), " ", make("span", low + " to " + high, { class: "range" })]);
  return make("td", null, {
    "data-column": dataset, "data-value": own[0], "data-low": own[1], "data-high": own[2], "data-text": mean + " [" + low + ", " + high + "]",
  }, [button]);
}
