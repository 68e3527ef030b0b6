// Arrays: base64, compressed, quantised; packing.py is the other side.

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

const ARRAYS = { Uint8Array, Uint16Array, Uint32Array, Int16Array, Int32Array, Float32Array, Float64Array };
const MISSING = -32768; // a quantised number that was not computed

// The content with every description of an array replaced by the array.
function revive(content, buffer) {
  if (content === null || typeof content !== "object") return content;
  if (Array.isArray(content)) return content.map((item) => revive(item, buffer));
  if (typeof content.type !== "string" || !(content.type in ARRAYS) || typeof content.at !== "number") {
    return Object.fromEntries(Object.entries(content).map(([name, value]) => [name, revive(value, buffer)]));
  }
  const raw = new ARRAYS[content.type](buffer, content.at, content.length);
  if (content.scale === undefined) return raw;
  return Float32Array.from(raw, (step) => (step === MISSING ? NaN : step * content.scale));
}

// Where each of several parts begins, given how long each is; one number more than parts.
function startsOf(lengths) {
  const starts = new Uint32Array(lengths.length + 1);
  lengths.forEach((length, place) => { starts[place + 1] = starts[place] + length; });
  return starts;
}
