// Elements, canvases and colours.

const byId = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (name === "style") Object.assign(element.style, value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function fillSelect(select, names, chosen = 0) {
  select.replaceChildren(...names.map(([value, name]) => make("option", { value }, name)));
  select.selectedIndex = chosen;
}

// A cleared canvas in the pixels of the screen, measured in those of the page.
function paper(canvas) {
  const { width, height } = canvas.getBoundingClientRect();
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, width, height };
}

const CLASS_NAMES = ["gnn", "descriptor", "other", "phist", "kernel", "floor"]; // blue and orange last: they mean for and against
let theme = {};

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const names = ["paper", "card", "ink", "soft", "line", "grid", "accent", "warm", "bad", ...CLASS_NAMES];
  theme = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

const classColour = (number) => (number < 0 ? theme.soft : theme[CLASS_NAMES[number % CLASS_NAMES.length]]);

function mix(one, other, share) {
  const [from, to] = [one, other].map((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));
  return `rgb(${from.map((value, part) => Math.round(value + (to[part] - value) * share)).join(",")})`;
}

// Blue speaks for, orange against; nothing is the colour of the card.
function diverging(value, largest) {
  if (!Number.isFinite(value)) return theme.grid;
  const share = largest > 0 ? Math.min(1, Math.abs(value) / largest) : 0;
  return mix(theme.card, value >= 0 ? theme.accent : theme.warm, share);
}

// Ink or paper, whichever can be read on a colour "rgb(…)" or "#…".
function readableOn(colour) {
  const light = (text) => {
    const parts = text[0] === "#" ? [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)) : text.match(/\d+/g).map(Number);
    return 0.299 * parts[0] + 0.587 * parts[1] + 0.114 * parts[2];
  };
  const [own, ink, paper] = [colour, theme.ink, theme.paper].map(light);
  return Math.abs(own - ink) > Math.abs(own - paper) ? theme.ink : theme.paper;
}

const largestOf = (values) => values.reduce((most, value) => (Math.abs(value) > most ? Math.abs(value) : most), 0);
const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
const percent = (value) => `${(100 * value).toFixed(1)} %`;
const signed = (value) => (Number.isFinite(value) ? `${value > 0 ? "+" : ""}${value.toPrecision(3)}` : "not computed");
const placeOf = (event, canvas) => {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};

function disc(context, x, y, radius, fill, stroke = null, width = 1) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  if (fill) { context.fillStyle = fill; context.fill(); }
  if (stroke) { context.strokeStyle = stroke; context.lineWidth = width; context.stroke(); }
}

// A whole graph in a small square.
function thumbnail(context, graph, left, top, size, colour, { hollow = false, root = -1 } = {}) {
  const at = (node) => [left + graph.x[node] * size, top + graph.y[node] * size];
  context.strokeStyle = theme.soft;
  context.lineWidth = 0.8;
  context.beginPath();
  for (let edge = 0; edge < graph.sources.length; edge++) {
    context.moveTo(...at(graph.sources[edge]));
    context.lineTo(...at(graph.targets[edge]));
  }
  context.stroke();
  const radius = Math.max(0.8, Math.min(3, size / (2 * Math.sqrt(graph.n) + 12)));
  for (let node = 0; node < graph.n; node++) disc(context, ...at(node), radius, hollow ? theme.paper : colour, colour, 1);
  if (root >= 0) disc(context, ...at(root), radius + 2, null, theme.bad, 2);
}
