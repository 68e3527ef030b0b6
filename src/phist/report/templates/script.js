"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const dialog = document.getElementById("record");

  // Everything shown from records is set as text, so that nothing in them can become markup.
  const make = (name, text, attributes = {}) => {
    const element = document.createElement(name);
    if (text !== undefined && text !== null) element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const draw = (name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const percent = (share) => (share === undefined ? "–" : (100 * share).toFixed(1) + " %");
  const brief = (number) => Number(number.toPrecision(3)).toLocaleString("en");

  // Tables: a click sorts, largest first; a third click brings the first order back.
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    const body = table.tBodies[0];
    const original = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
      const first = column === 0 ? "ascending" : "descending";
      const second = column === 0 ? "descending" : "ascending";
      const order = { [first]: second, [second]: "none" }[head.getAttribute("aria-sort")] || first;
      heads.forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", order);
      body.classList.toggle("sorted", order !== "none");
      body.append(...(order === "none" ? original : sorted(original, column, order === "ascending" ? 1 : -1)));
    }));
  }

  function sorted(rows, column, sign) {
    const value = (row) => row.cells[column].dataset.value;
    return [...rows].sort((a, b) => {
      const [one, other] = [value(a), value(b)];
      if (!one || !other) return (one ? 0 : 1) - (other ? 0 : 1); // what was not measured comes last either way
      return sign * (column === 0 ? one.localeCompare(other) : one - other);
    });
  }

  const printed = document.getElementById("show-printed");
  if (printed) printed.addEventListener("change", () => document.body.classList.toggle("hide-printed", !printed.checked));

  // Records: every number opens those it was made of.
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-label][data-dataset]");
    if (opener) open(opener.dataset.label, opener.dataset.dataset);
  });
  document.getElementById("record-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

  function open(label, dataset) {
    const records = (data.records[label] || {})[dataset] || [];
    if (!records.length) return;
    document.getElementById("record-title").textContent = label + " on " + dataset;
    document.getElementById("record-summary").textContent = summary(records);
    const tabs = records.map((record) => tab(record, records));
    document.getElementById("record-folds").replaceChildren(...tabs);
    dialog.showModal();
    dialog.scrollTop = 0;
    tabs[0].click();
  }

  function summary(records) {
    const good = records.filter((record) => record.status === "ok");
    const seconds = good.reduce((sum, record) => sum + (record.seconds || 0), 0);
    const failed = records.length - good.length;
    return good.length + " records" + (failed ? ", " + failed + " failed" : "") + ", " + brief(seconds) + " s in all";
  }

  function tab(record, records) {
    const cell = record.cell;
    const several = (key) => new Set(records.map((other) => other.cell[key])).size > 1;
    const name = (several("repeat") ? cell.repeat + "/" : "") + cell.fold + (several("seed") ? " · seed " + cell.seed : "");
    const button = make("button", null, { type: "button", role: "tab", "aria-selected": "false", "aria-controls": "record-body" });
    button.append(make("small", "fold " + name), record.status === "ok" ? record.score || percent(record.accuracy) : "failed");
    button.addEventListener("click", () => show(record, button));
    button.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const all = [...button.parentElement.children];
      const next = all[(all.indexOf(button) + step + all.length) % all.length];
      next.focus();
      next.click();
    });
    return button;
  }

  function show(record, button) {
    for (const other of button.parentElement.children) {
      other.setAttribute("aria-selected", String(other === button));
      other.tabIndex = other === button ? 0 : -1;
    }
    const body = document.getElementById("record-body");
    body.replaceChildren();
    if (record.reason) body.append(make("p", record.reason, { class: "error" }));
    body.append(block("Result", pairs(results(record))), block("How it was run", pairs(circumstances(record))));
    for (const measure of ["accuracy", "loss"]) {
      const chart = curves(record, measure);
      if (chart) body.append(block(measure === "loss" ? "Loss by epoch" : "Accuracy by epoch", chart));
    }
    if (record.outcome) body.append(block("Predictions: true class by row, predicted by column", matrix(record.outcome)));
    body.append(block("Chosen on validation", pairs(entries(record.chosen || {}))));
    body.append(block("Versions", pairs(entries(data.versions[record.versions] || {}))));
  }

  const block = (title, content) => {
    const element = make("div");
    element.append(make("h3", title), content);
    return element;
  };
  const written = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value));
  const entries = (object) => Object.entries(object).map(([key, value]) => [key, written(value)]);

  function pairs(rows) {
    const list = make("dl");
    for (const [name, value, mono] of rows) {
      const description = make("dd");
      description.append(mono ? make("code", value) : document.createTextNode(value));
      list.append(make("dt", name), description);
    }
    return rows.length ? list : make("p", "nothing recorded");
  }

  const results = (record) => [
    ...(record.score ? [["test " + data.metric, record.score]] : []),
    ["test accuracy", percent(record.accuracy)],
    ["validation accuracy", percent(record.validation)],
    ["training accuracy", percent(record.training)],
    ["wall time", brief(record.seconds || 0) + " s"],
    ["processor time", record.processor_seconds === undefined ? "not recorded" : brief(record.processor_seconds) + " s"],
    ["peak memory", record.memory ? brief(record.memory) + " MB" : "–"],
    ["configurations tried", record.tried || "–"],
    ...(record.notes || []).map((note) => ["note", note]),
  ];

  const circumstances = (record) => [
    ["method", record.cell.method],
    ["options", written(record.cell.options)],
    ["protocol", record.cell.protocol + (record.cell.no_duplicates ? ", no duplicates across parts" : "")],
    ["fold, shuffle, seed", [record.cell.fold, record.cell.repeat, record.cell.seed].join(", ")],
    ["split", record.split || "–", true],
    ["dataset's content", String(record.cell.fingerprint).slice(0, 16), true],
    ["cell", record.hash, true],
    ["engine", record.engine || "–"],
    ["threads", record.threads || 1],
    ["finished", record.finished || "–"],
  ];

  function matrix(outcome) {
    const table = make("table", null, { class: "matrix" });
    const largest = Math.max(...outcome.confusion.flat(), 1);
    const head = table.createTHead().insertRow();
    head.append(make("th"), ...outcome.classes.map((name) => make("th", name, { scope: "col" })));
    const body = table.createTBody();
    outcome.confusion.forEach((counts, place) => {
      const row = body.insertRow();
      row.append(make("th", outcome.classes[place], { scope: "row" }));
      row.append(...counts.map((count) => make("td", count, { style: "--share: " + count / largest })));
    });
    const scroll = make("div", null, { class: "scroll" });
    scroll.append(table);
    return scroll;
  }

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
    svg.append(draw("text", { class: "axis", x: 194, y: 180, "text-anchor": "middle" }, "epoch: training blue, validation orange"));
    for (const key of shown) {
      const line = history[key].map((value, place) => x(history.epochs[place]).toFixed(1) + "," + y(scale * value).toFixed(1)).join(" ");
      svg.append(draw("polyline", { class: "curve mean " + key, points: line }));
    }
    return svg;
  }
})();
