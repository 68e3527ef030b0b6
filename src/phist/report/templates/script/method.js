// All results of one method: what a mean rank opens.
function openMethod(label) {
  const figures = view().figures[label] || {};
  openDialog(label, "Every result of the method by " + data.metrics[chosen.metric].title + "; each opens its records.", ["", label]);
  const list = make("div", null, { class: "wide-row results" });
  for (const dataset of data.datasets) {
    if (!figures[dataset]) continue;
    const button = make("button", null, { type: "button", class: "quiet", "data-label": label, "data-dataset": dataset });
    button.append(make("small", dataset), figures[dataset]);
    list.append(button);
  }
  body.append(list);
}
