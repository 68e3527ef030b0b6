// Downloads: a table as it is shown, filters and order included.
function downloadButtons(table, file) {
  const button = (form, text) => make("button", text, {
    type: "button", class: "quiet", "data-download": form, "data-table": table, "data-file": file,
  });
  return make("p", "Download what is shown: ", { class: "downloads" }, [button("csv", "CSV"), button("latex", "LaTeX")]);
}

const isShown = (element) => !element.classList.contains("filtered");
const shownRows = (table) => [...table.tBodies[0].rows].filter((row) => isShown(row) && row.offsetParent !== null);
const shownColumns = (table) => [...table.tHead.rows[0].cells].filter(isShown).slice(1);

// One line for each method and dataset, so that nothing must be taken apart again.
function asCsv(table) {
  const fields = ["value", "deviation", "low", "high", "records", "published"];
  const lines = [["method", "family", "dataset", "value", "standard deviation", "low", "high", "records", "published"]];
  for (const row of shownRows(table)) {
    for (const cell of [...row.cells].slice(1).filter(isShown)) {
      const figures = fields.map((field) => cell.dataset[field] || "");
      if (figures.some(Boolean)) lines.push([row.cells[0].dataset.value, row.dataset.family, cell.dataset.column, ...figures]);
    }
  }
  return lines.map((line) => line.map(csvField).join(",") + "\r\n").join("");
}

// No field can be taken for a formula by a spreadsheet.
function csvField(text) {
  const safe = /^[=+@\t\r]|^-(?![\d.])/.test(text) ? "'" + text : text;
  return /[",\r\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
}

function asLatex(table) {
  const columns = shownColumns(table).map((head) => head.textContent);
  const lines = ["\\begin{tabular}{l" + "c".repeat(columns.length) + "}", "\\toprule", ["", ...columns.map(latex)].join(" & ") + " \\\\", "\\midrule"];
  for (const row of shownRows(table)) {
    const cells = [...row.cells].slice(1).filter(isShown).map((cell) => {
      const text = latex(cell.dataset.text || "");
      return cell.classList.contains("best") ? "\\textbf{" + text + "}" : cell.classList.contains("tied") ? "\\underline{" + text + "}" : text;
    });
    lines.push([latex(row.cells[0].dataset.value), ...cells].join(" & ") + " \\\\");
  }
  return [...lines, "\\bottomrule", "\\end{tabular}", ""].join("\n");
}

const LATEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "±": "$\\pm$", "–": "--", "−": "$-$", "ε": "$\\epsilon$" };
for (const sign of "&%$#_{}") LATEX[sign] = "\\" + sign;
[..."⁰¹²³⁴⁵⁶⁷⁸⁹"].forEach((sign, digit) => { LATEX[sign] = "\\textsuperscript{" + digit + "}"; });
const latex = (text) => [...text].map((sign) => LATEX[sign] || sign).join("");

function save(button) {
  const table = document.getElementById(button.dataset.table);
  const isCsv = button.dataset.download === "csv";
  const content = new Blob([isCsv ? asCsv(table) : asLatex(table)], { type: isCsv ? "text/csv" : "text/x-tex" });
  const link = make("a", null, { href: URL.createObjectURL(content), download: button.dataset.file + (isCsv ? ".csv" : ".tex") });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
