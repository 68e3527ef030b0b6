// The differences of the method that is compared with the others.
function showDifferences() {
  const frame = document.getElementById("differences-table");
  if (!frame) return;
  const against = chosen.against;
  const others = Object.keys(data.labels).filter((other) => other !== against);
  const columns = data.datasets.filter((dataset) => others.some((other) => difference(against, other, dataset)));
  if (!columns.length) return frame.replaceChildren(make("p", "No two methods share two folds of a dataset, so that differences have no intervals."));
  const metric = data.metrics[chosen.metric];
  const about = against + " against every other method: difference of test " + metric.title + metric.unit + ", positive where " + against +
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
