// Records: every number opens those it was made of.
const title = document.getElementById("record-title");
const summaryLine = document.getElementById("record-summary");
const tabs = document.getElementById("record-folds");
const body = document.getElementById("record-body");

function openDialog(heading, line, link) {
  title.textContent = heading;
  summaryLine.textContent = line;
  tabs.replaceChildren();
  tabs.hidden = true;
  body.replaceChildren();
  body.removeAttribute("aria-labelledby");
  body.setAttribute("role", "region");
  body.setAttribute("aria-label", heading);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  remember(link);
}

function openRecords(label, dataset, key) {
  const records = recordsOf(label, dataset);
  if (!records.length) return openReason(label, dataset);
  openDialog(label + " on " + dataset, summary(records), [dataset, label]);
  tabs.hidden = false;
  body.setAttribute("role", "tabpanel");
  const made = records.map((record) => tab(record, records, label, dataset));
  tabs.replaceChildren(...made);
  const wanted = records.findIndex((record) => keyOf(record, records) === key);
  made[Math.max(0, wanted)].click();
}

function openReason(label, dataset) {
  const why = (data.absent[label] || {})[dataset];
  if (!why) return;
  openDialog(label + " on " + dataset, "There is no record of it.", [dataset, label]);
  body.append(make("p", why, { class: "reason" }));
}

function summary(records) {
  const good = records.filter((record) => record.status === "ok");
  const seconds = good.reduce((sum, record) => sum + (record.seconds || 0), 0);
  const failed = records.length - good.length;
  return good.length + " records" + (failed ? ", " + failed + " failed" : "") + ", " + brief(seconds) + " s in all";
}

// What a permalink calls a record: its fold, with seed and shuffle where there are several.
function keyOf(record, records) {
  const several = (name) => new Set(records.map((other) => other.cell[name])).size > 1;
  const parts = [record.cell.fold, ...["seed", "repeat"].filter(several).map((name) => name + record.cell[name])];
  return parts.join(".");
}

function tab(record, records, label, dataset) {
  const key = keyOf(record, records);
  const name = key.replace(/\.seed/, " · seed ").replace(/\.repeat/, " · shuffle ");
  const shown = record.status === "ok" ? (record.scores || {})[chosen.metric] || percent(record.accuracy) : record.status;
  const button = make("button", null, { type: "button", role: "tab", "aria-selected": "false", "aria-controls": "record-body" });
  button.append(make("small", "fold " + name), shown);
  button.addEventListener("click", () => {
    show(record, button, label, dataset);
    remember([dataset, label, key]);
  });
  button.addEventListener("keydown", (event) => step(event, [...tabs.children], button, true));
  return button;
}

// Arrow keys walk through the members of a group, of which one is in the order of the Tab key.
function step(event, all, current, choose) {
  const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!by) return;
  event.preventDefault();
  const next = all[(all.indexOf(current) + by + all.length) % all.length];
  for (const other of all) other.setAttribute("tabindex", other === next ? 0 : -1);
  next.focus();
  if (choose) next.click();
}

function show(record, button, label, dataset) {
  for (const other of tabs.children) {
    other.setAttribute("aria-selected", String(other === button));
    other.tabIndex = other === button ? 0 : -1;
  }
  body.replaceChildren();
  if (record.reason) body.append(make("p", record.reason, { class: "error" }));
  body.append(block("Result", pairs(results(record))), block("How it was run", pairs(circumstances(record))));
  body.append(reproduction(record), opponents(label, dataset));
  for (const measure of ["accuracy", "loss"]) {
    const chart = curves(record, measure);
    if (chart) body.append(block(measure === "loss" ? "Loss by epoch" : "Accuracy by epoch, in percent", chart));
  }
  if (record.predicted) body.append(block("Predictions: a row for each true class, a column for each predicted one", matrix(record)));
  body.append(block("Chosen without the test graphs", pairs(entries(record.chosen || {}))));
  body.append(block("Versions", pairs(entries(data.versions[record.versions] || {}))));
}

const results = (record) => [
  ...Object.entries(record.scores || {}).map(([name, score]) => ["test " + data.metrics[name].title, score]),
  ["validation accuracy", percent(record.validation)],
  ["training accuracy", percent(record.training)],
  ["wall time", brief(record.seconds || 0) + " s"],
  ["processor time", record.processor_seconds === undefined ? "not recorded" : brief(record.processor_seconds) + " s"],
  ...(record.prediction_seconds === undefined ? [] : [["of it prediction", brief(record.prediction_seconds) + " s"]]),
  ["peak memory", record.memory ? brief(record.memory) + " MB" : "–"],
  ["configurations tried", record.tried || "–"],
  ...(record.notes || []).map((note) => ["note", note]),
];

const circumstances = (record) => [
  ["method", record.cell.method],
  ["options", written(record.cell.options) || "none: the method as it is"],
  ["protocol", record.cell.protocol + (record.cell.no_duplicates ? ", no duplicates across parts" : "")],
  ...(record.cell.labelled ? [["labelled graphs", record.cell.labelled]] : []),
  ["fold, shuffle, seed", [record.cell.fold, record.cell.repeat, record.cell.seed].join(", ")],
  ["split", record.split || "–", true],
  ["dataset's content", String(record.cell.fingerprint).slice(0, 16), true],
  ["cell", record.hash, true],
  ...(record.engine ? [["engine", record.engine]] : []),
  ["threads", record.threads || 1],
  ["finished", record.finished || "–"],
];

function reproduction(record) {
  if (!record.spec) return block("Reproduce this cell", make("p", "The study's file is not beside its records, so that there is no command."));
  const command = "phist bench repeat " + shellQuoted(record.spec) + " " + record.hash;
  const code = make("code", command, { class: "command" });
  const copy = make("button", "Copy", { type: "button", class: "quiet" });
  copy.addEventListener("click", async () => {
    getSelection().selectAllChildren(code);
    try { await navigator.clipboard.writeText(command); copy.textContent = "Copied"; } catch { copy.textContent = "Selected"; }
  });
  return block("Reproduce this cell", make("p", null, { class: "reproduce" }, [code, copy]));
}

const shellQuoted = (text) => (/^[\w./+-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'");

function matrix(record) {
  const test = data.tests[record.test];
  const counts = test.classes.map(() => test.classes.map(() => 0));
  const truth = numbers(test.truth);
  numbers(record.predicted).forEach((answer, place) => { counts[truth[place]][answer] += 1; });
  const table = make("table", null, { class: "matrix" });
  const largest = Math.max(...counts.flat(), 1);
  const head = table.createTHead().insertRow();
  head.append(make("td"), ...test.classes.map((name) => make("th", name, { scope: "col" })));
  const rows = table.createTBody();
  counts.forEach((own, place) => {
    const row = rows.insertRow();
    row.append(make("th", test.classes[place], { scope: "row" }));
    row.append(...own.map((count) => make("td", count, { style: "--share: " + count / largest })));
  });
  return make("div", null, { class: "scroll", tabindex: 0, role: "region", "aria-label": "Predictions by class" }, [table]);
}

// Classes of graphs are written with one sign each, or as a list of numbers where there are many.
const numbers = (written) => (typeof written === "string" ? [...written].map((sign) => parseInt(sign, 36)) : written);

function curves(record, measure) {
  const history = record.history || {};
  const shown = [measure, "validation_" + measure].filter((key) => history[key]);
  if (!shown.length) return null;
  const scale = measure === "accuracy" ? 100 : 1;
  const last = Math.max(...history.epochs);
  const values = shown.flatMap((key) => history[key]).map((value) => scale * value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (epoch) => 38 + (312 * (epoch - 1)) / Math.max(last - 1, 1);
  const y = (value) => 150 - (130 * (value - low)) / (high - low || 1);
  const svg = draw("svg", { viewBox: "0 0 360 185", role: "img", "aria-label": measure + " by epoch" });
  for (const value of [low, (low + high) / 2, high]) {
    svg.append(draw("line", { class: "grid", x1: 38, x2: 350, y1: y(value), y2: y(value) }));
    svg.append(draw("text", { class: "tick", x: 33, y: y(value) + 3, "text-anchor": "end" }, brief(value)));
  }
  for (const epoch of [1, last]) svg.append(draw("text", { class: "tick", x: x(epoch), y: 166, "text-anchor": "middle" }, epoch));
  svg.append(draw("text", { class: "axis", x: 194, y: 180, "text-anchor": "middle" }, shown.length > 1 ? "epoch; training graphs blue, validation graphs orange" : "epoch; " + (shown[0] === measure ? "training" : "validation") + " graphs"));
  for (const key of shown) {
    const line = history[key].map((value, place) => x(history.epochs[place]).toFixed(1) + "," + y(scale * value).toFixed(1)).join(" ");
    svg.append(draw("polyline", { class: "curve mean " + key, points: line }));
  }
  return svg;
}
