// The method that is compared with the others, over the methods and datasets that no filter hides.
const STRONGEST = 6; // opponents that the summary shows at once
const NAMED = 3; // stronger opponents that the sentence names
const OUTCOMES = ["won", "tied", "lost"];

function showSummary() {
  const found = view().findings[chosen.against];
  const frame = document.getElementById("versus");
  if (!found || !frame) return;
  const rows = shownVersus(found.versus);
  const opened = frame.querySelector("details[open]");
  document.getElementById("finding").textContent = sentence(found, rows);
  showScore(found, rows);
  frame.replaceChildren();
  if (!rows.length) return;
  frame.append(familyTable(rows), versusTable(rows.slice(0, STRONGEST), "The strongest other methods"));
  if (rows.length <= STRONGEST) return;
  const rest = make("details", null, { class: "group" }, [make("summary", "All " + rows.length + " other methods")]);
  rest.append(versusTable(rows, "All other methods"));
  rest.open = Boolean(opened);
  rest.addEventListener("toggle", fitTables);
  frame.append(rest);
}

// Rows of an opponent, the datasets won, tied and lost against it, and the mean difference.
function shownVersus(versus) {
  const [families, columns] = [hidden("family"), hidden("column")];
  const left = (names) => names.filter((name) => !columns.has(name));
  return versus.filter(([label]) => !families.has(data.labels[label]))
    .map(([label, won, tied, lost, mean]) => [label, left(won), left(tied), left(lost), mean])
    .filter(([, won, tied, lost]) => won.length + tied.length + lost.length);
}

const sums = (rows) => [1, 2, 3].map((place) => rows.reduce((total, row) => total + row[place].length, 0));

function sentence(found, rows) {
  const rank = found.rank === null ? "" : " has mean rank " + found.rank.toFixed(1) + " among " + found.ranked[0] + " methods";
  const begun = chosen.against + rank + (rank ? "; " : ": ");
  if (!found.versus.length) return begun + "no other method shares two folds of a dataset with it, so that differences have no intervals.";
  if (!rows.length) return begun + "the filter leaves nothing to compare it with.";
  const [won, tied, lost] = sums(rows);
  const count = won + tied + lost + " comparisons" + (hidden("family").size + hidden("column").size ? " that the filter leaves" : "");
  const stronger = rows.filter((row) => row[3].length > row[1].length).map((row) => row[0]);
  const more = stronger.length > NAMED ? " and " + (stronger.length - NAMED) + " more" : "";
  const against = stronger.length ? "; it loses more often than it wins against " + stronger.slice(0, NAMED).join(", ") + more : "";
  return begun + "against the others, one dataset at a time (" + count + "), it clearly wins " + won + ", clearly loses " + lost + ", and " + tied + " are too close to call" + against + ".";
}

function showScore(found, rows) {
  const [won, tied, lost] = sums(rows);
  const tiles = [
    ["mean rank of " + found.ranked[0] + " methods on " + found.ranked[1] + " datasets", found.rank === null ? "–" : found.rank.toFixed(1)],
    ["wins: interval above zero", won], ["ties: interval holds zero", tied], ["losses: interval below zero", lost],
  ];
  const score = document.getElementById("score");
  score.hidden = !rows.length;
  score.replaceChildren(...tiles.map(([name, value]) => make("div", null, {}, [make("dt", name), make("dd", value)])));
}

function familyTable(rows) {
  const of = (family) => rows.filter(([label]) => data.labels[label] === family);
  const lines = Object.keys(data.families).filter((family) => of(family).length).map((family) => {
    const own = of(family);
    const bar = outcomeBar(...[1, 2, 3].map((place) => own.flatMap((row) => row[place].map((dataset) => row[0] + " on " + dataset))));
    return [[familySign(family), data.families[family]], [String(own.length)], [bar]];
  });
  return outcomeTable("By family", "datasets of every method that " + chosen.against + " wins, ties and loses", ["family", "methods", null], lines);
}

function versusTable(rows, name) {
  const unit = data.metrics[chosen.metric].unit;
  const lines = rows.map(([label, won, tied, lost, over]) => {
    const kind = over && over[1] > 0 ? "gain" : over && over[2] < 0 ? "loss" : null;
    const [mean, low, high] = (over || []).map((value) => signed(value, digits()));
    const shown = over ? [make("span", mean, { class: kind }), " ", make("span", "[" + low + ", " + high + "]", { class: "interval" })] : ["–"];
    return [[familySign(data.labels[label]), label], [outcomeBar(won, tied, lost)], shown];
  });
  const about = "datasets that " + chosen.against + " wins, ties and loses; mean difference over all datasets" + unit + " [95 % interval]";
  return outcomeTable(name, about, ["method", null, "mean difference"], lines);
}

// A table of which one column, without a name here, has bars.
function outcomeTable(name, about, heads, lines) {
  const table = make("table", null, { class: "versus" });
  table.append(make("caption", name + ": " + about));
  const legend = () => OUTCOMES.map((kind) => make("span", null, { class: "key" }, [make("span", null, { class: "swatch " + kind }), kind]));
  table.createTHead().insertRow().append(...heads.map((head) => make("th", head, { scope: "col" }, head === null ? legend() : [])));
  const body = table.createTBody();
  for (const [first, ...others] of lines) {
    const row = body.insertRow();
    row.append(make("th", null, { scope: "row" }, first), ...others.map((content) => make("td", null, {}, content)));
  }
  return make("div", null, { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, [table]);
}

function outcomeBar(...outcomes) {
  const bar = make("span", null, { class: "outcomes" });
  outcomes.forEach((names, place) => {
    const kind = OUTCOMES[place];
    if (names.length) bar.append(make("span", names.length, { class: kind, style: "flex-grow: " + names.length, title: kind + ": " + names.join(", ") }));
  });
  bar.append(make("span", OUTCOMES.map((kind, place) => outcomes[place].length + " " + kind).join(", "), { class: "spoken" }));
  return bar;
}
