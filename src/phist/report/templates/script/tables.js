// Tables: a click on a head sorts, largest first; a third click brings the first order back. Heads stay in sight.
function makeSortable(table) {
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

// A table that fits keeps its heads below the navigation while the page scrolls; a wider one scrolls by itself, heads and all.
function fitTables() {
  const bar = document.querySelector("nav");
  document.documentElement.style.setProperty("--bar", (bar ? bar.offsetHeight : 0) + "px");
  for (const frame of document.querySelectorAll(".scroll")) {
    const table = frame.querySelector("table");
    if (!table || !frame.clientWidth) continue;
    frame.classList.remove("fits");
    frame.classList.toggle("fits", table.scrollWidth <= frame.clientWidth);
  }
}

for (const table of document.querySelectorAll("table[data-sortable]")) makeSortable(table);
window.addEventListener("resize", fitTables);
