// Permalinks: DATASET/METHOD/FOLD opens a record, DATASET/METHOD/vs/METHOD a comparison, /METHOD all results of a method.
function remember(parts) {
  history.replaceState(null, "", "#" + parts.map(encodeURIComponent).join("/"));
}

function openPermalink() {
  const address = location.hash.slice(1);
  if (!address.includes("/")) return;
  const [dataset, label, key, other] = address.split("/").map(decoded);
  if (!data.records[label] && !(data.absent[label] || {})[dataset]) return;
  if (!dataset) openMethod(label);
  else if (key === "vs") openComparison(label, other, dataset);
  else openRecords(label, dataset, key);
}

function decoded(part) {
  try { return decodeURIComponent(part); } catch { return part; }
}

document.getElementById("record-close").addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
dialog.addEventListener("close", () => history.replaceState(null, "", location.pathname + location.search));
window.addEventListener("hashchange", openPermalink);

refresh();
openPermalink();
