// What the reader chooses: the metric, the method that is compared, families and datasets.
const chooseMetric = document.getElementById("choose-metric");
const chooseAgainst = document.getElementById("choose-against");
const boxes = [...document.querySelectorAll("[data-filter]")];

function refresh() {
  for (const part of document.querySelectorAll("[data-metric]")) part.hidden = part.dataset.metric !== chosen.metric;
  showDifferences();
  filter();
}

const hidden = (kind) => new Set(boxes.filter((box) => box.dataset.filter === kind && !box.checked).map((box) => box.value));

function filter() {
  showSummary();
  const [families, columns] = [hidden("family"), hidden("column")];
  for (const element of document.querySelectorAll("[data-family], [data-column]")) {
    element.classList.toggle("filtered", families.has(element.dataset.family) || columns.has(element.dataset.column));
  }
  const count = families.size + columns.size;
  const told = document.getElementById("filtered");
  if (told) told.textContent = count ? " (" + count + " hidden)" : "";
  for (const drawing of document.querySelectorAll("svg[data-row]")) closeRanks(drawing);
  fitTables();
}

// Rows that a filter leaves move up, and the drawing becomes as high as they are.
function closeRanks(drawing) {
  const [row, head] = [Number(drawing.dataset.row), Number(drawing.dataset.head)];
  const shown = [...drawing.querySelectorAll(":scope > .opens")].filter(isShown);
  shown.forEach((part, place) => part.setAttribute("transform", "translate(0," + (head + row * place) + ")"));
  const width = drawing.viewBox.baseVal.width;
  drawing.setAttribute("viewBox", "0 0 " + width + " " + (head + row * shown.length + 4));
}

// In a figure one mark is in the order of the Tab key, and arrow keys walk to the others.
for (const drawing of document.querySelectorAll("svg[role=group]")) {
  const marks = [...drawing.querySelectorAll(".opens")];
  marks.forEach((part, place) => part.setAttribute("tabindex", place ? -1 : 0));
  drawing.addEventListener("keydown", (event) => {
    const current = event.target.closest(".opens");
    if (current) step(event, marks.filter(isShown), current, false);
  });
}

document.addEventListener("keydown", (event) => {
  const opener = event.target.closest && event.target.closest(".opens");
  if (!opener || (event.key !== "Enter" && event.key !== " ")) return;
  event.preventDefault();
  openWhat(opener.dataset);
});

document.addEventListener("click", (event) => {
  const download = event.target.closest("[data-download]");
  if (download) return save(download);
  const opener = event.target.closest("[data-label][data-dataset]");
  if (opener) openWhat(opener.dataset);
});

function openWhat({ label, other, dataset }) {
  if (other) openComparison(label, other, dataset);
  else if (dataset) openRecords(label, dataset);
  else openMethod(label);
}

if (chooseMetric) chooseMetric.addEventListener("change", () => { chosen.metric = chooseMetric.value; refresh(); });
if (chooseAgainst) chooseAgainst.addEventListener("change", () => { chosen.against = chooseAgainst.value; refresh(); });
for (const box of boxes) box.addEventListener("change", filter);
const showAll = document.getElementById("filter-none");
if (showAll) showAll.addEventListener("click", () => { for (const box of boxes) box.checked = true; filter(); });
const filters = document.getElementById("filters");
document.addEventListener("click", (event) => { if (filters && !filters.contains(event.target)) filters.open = false; });
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !filters || !filters.open) return;
  filters.open = false;
  filters.querySelector("summary").focus();
});

const printed = document.getElementById("show-printed");
if (printed) printed.addEventListener("change", () => document.body.classList.toggle("hide-printed", !printed.checked));
for (const group of document.querySelectorAll("details.group")) group.addEventListener("toggle", fitTables);
