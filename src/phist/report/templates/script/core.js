// What every part uses: the data of the page, elements, numbers, and what the reader has chosen.
const data = JSON.parse(document.getElementById("data").textContent);
const dialog = document.getElementById("record");
const chosen = { metric: data.metric, against: data.against };

// Everything shown from records is set as text, so that nothing in them can become markup.
const make = (name, text, attributes = {}, children = []) => {
  const element = document.createElement(name);
  if (text !== undefined && text !== null) element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== undefined) element.setAttribute(key, value);
  element.append(...children);
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
const signed = (number, digits) => {
  const text = Math.abs(number).toFixed(digits);
  return Number(text) === 0 ? text : (number > 0 ? "+" : "−") + text;
};
// Values as a reader would write them: lists by commas, what has names as name and value, a line for each of several.
const written = (value) => {
  if (Array.isArray(value)) return value.map(written).join(value.some(Array.isArray) || typeof value[0] === "object" ? "\n" : ", ");
  if (value === null || typeof value !== "object") return String(value);
  return Object.entries(value).map(([name, own]) => name + " " + (Array.isArray(own) ? "[" + written(own) + "]" : written(own))).join("; ");
};
const entries = (object) => Object.entries(object).map(([key, value]) => [key, written(value)]);

const digits = () => data.metrics[chosen.metric].digits;
const view = () => data.views[chosen.metric];
const recordsOf = (label, dataset) => (data.records[label] || {})[dataset] || [];

// How much better a method is than another: [mean, low, high]. One half of the pairs is stored, the other has the sign turned.
function difference(label, other, dataset) {
  const stored = ((view().differences[label] || {})[other] || {})[dataset];
  if (stored) return stored;
  const turned = ((view().differences[other] || {})[label] || {})[dataset];
  return turned && [-turned[0], -turned[2], -turned[1]];
}

const familySign = (family) => {
  const known = document.querySelector('.key[data-family="' + family + '"] svg');
  return known ? known.cloneNode(true) : document.createTextNode("");
};

const block = (title, ...content) => make("div", null, {}, [make("h3", title), ...content]);

function pairs(rows) {
  const list = make("dl");
  for (const [name, value, mono] of rows) {
    const description = make("dd");
    description.append(mono ? make("code", value) : document.createTextNode(value));
    list.append(make("dt", name), description);
  }
  return rows.length ? list : make("p", "nothing recorded");
}
