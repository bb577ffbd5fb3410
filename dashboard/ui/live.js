// Charts and words that follow a slider while it moves: see dashboard/charts/live.py. Streamlit's
// slider tells the server on release only, but its <input type=range> shows every position.
// The frames of a slider are fetched when the pointer or the focus comes near it.
//
// A chart hears the event `live <its name>` on the body, whose `value` is then
// { of, at, frame, tables: { chart: { table: { column: numbers } } }, words: { name: text } }.

// What lies between two frames: `frame` is the nearer one.
export function between({ positions, wide }, at) {
  let high = 1;
  while (high < positions.length - 1 && positions[high] < at) high++;
  const [from, to] = [positions[high - 1], positions[high] ?? positions[0]];
  const way = wide ? Math.log : Number;
  const share = to === from ? 0 : (way(at) - way(from)) / (way(to) - way(from));
  const part = Math.min(1, Math.max(0, share || 0));
  return { low: high - 1, high: Math.min(high, positions.length - 1), part, frame: part < 0.5 ? high - 1 : high };
}

const NUMBER = /\d+(?:\.\d+)?/g;

// A text between two frames: where only the position's own number differs, it names the position;
// else it is that of the nearer frame, with `about` before it.
function told([from, to], { ends, at, part, frame, low }, about) {
  if (part === 0 || part === 1 || from === to) return frame === low ? from : to;
  const [numbers, others] = [from, to].map((text) => text.match(NUMBER) ?? []);
  const moves = (index) => Number(numbers[index]) === ends[0] && Number(others[index]) === ends[1];
  const alike = from.split(NUMBER).join() === to.split(NUMBER).join() &&
    numbers.every((number, index) => number === others[index] || moves(index));
  let index = 0;
  if (alike) return from.replace(NUMBER, (number) => (moves(index++) ? String(at) : number));
  return about + (frame === low ? from : to);
}

function column(held, place) {
  const { low, high, part, frame } = place, [from, to] = [held[low], held[high]];
  if (!Array.isArray(from)) return held;  // addresses of pictures, one for each frame
  return from.map((value, row) => {
    if (typeof value === "string") return told([value, to[row]], place, "");
    return typeof value === "number" && typeof to[row] === "number"
      ? value * (1 - part) + to[row] * part : held[frame][row];
  });
}

const mapped = (object, make) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, make(value)]));

// The same, where a value is made once it is asked for: nobody may point at the weights.
const lazily = (object, make) => Object.create(null, mapped(object, (value) => {
  let made;
  return { get: () => (made ??= make(value)), enumerable: true };
}));

// Has charts and words show a position; or only know its pictures, if `moved` is none.
export function show(held, of, at, moved = at) {
  const found = between(held, at), { low, high, frame } = found;
  const place = { ...found, at, ends: [held.positions[low], held.positions[high]] };
  const tables = mapped(held.tables, (chart) =>
    mapped(chart, (table) => lazily(table, (values) => column(values, place))));
  const words = mapped(held.words, (texts) => told([texts[low], texts[high]], place, "≈ "));
  document.body.value = { of, at: moved, frame, tables, words };
  for (const chart of Object.keys(held.tables))
    document.body.dispatchEvent(new Event(`live ${chart}`));
  document.body.dispatchEvent(new Event("live words"));
}

const held = new Map();  // frames by their address: an object, or a promise of one
let sliders = {};  // by key: what the server said of each
let sayings = {};  // of waiting.js, by names of the style sheet

function slider(target) {
  for (let at = target.closest?.("[class*=st-key-]"); at; at = at.parentElement?.closest("[class*=st-key-]"))
    for (const name of at.classList)
      if (name.startsWith("st-key-") && sliders[name.slice(7)]) return sliders[name.slice(7)];
}

async function fetched(address) {
  try {
    const answer = await fetch(new URL(address, document.baseURI));
    if (answer.ok) return await answer.json();
  } catch { /* the server answers on release */ }
  held.delete(address);
}

// Charts load the pictures of frames below what the server drew; a chart whose pictures are not
// loaded yet has none to show. Vega loads by images that are no part of the page.
const loading = new Set(), longest = 1000;  // ms; Vega never loads what has no address
const redrawn = 30;  // ms after which Vega has drawn what is loaded
const later = () =>
  new Promise((done) => requestAnimationFrame(() => setTimeout(done, redrawn)));

window.Image = new Proxy(Image, {
  construct(made, given) {
    const image = new made(...given);
    loading.add(image);
    for (const end of ["load", "error"]) image.addEventListener(end, () => loading.delete(image));
    return image;
  },
});

async function pictured(found, { of, at }) {
  if (document.body.hasAttribute("data-live")) return;  // another slider is followed
  loading.clear();
  show(found, of, at, NaN);
  const begun = performance.now();
  do await later(); while (loading.size && performance.now() - begun < longest);
  await later();
}

function near(event) {
  const known = slider(event.target);
  if (!known || held.has(known.address)) return;
  held.set(known.address, fetched(known.address).then(async (found) => {
    if (!found) return;
    await pictured(found, known);
    held.set(known.address, found);
    const input = event.target.closest("[class*=st-key-]")?.querySelector("input[type=range]");
    if (input) follow(input);
  }));
}

function follow(input, at = Number(input.value)) {
  const known = slider(input), found = known && held.get(known.address);
  const now = document.body.value;
  if (!found?.positions || (now?.of === known.of && Math.abs(at - now.at) < 1e-9)) return;
  document.body.toggleAttribute("data-live", Math.abs(at - known.at) > 1e-9);
  show(found, known.of, at);
}

for (const soon of ["pointerover", "pointerdown", "focusin"]) document.addEventListener(soon, near);
new MutationObserver((seen) => {
  for (const { target } of seen) if (target.type === "range" && !foreseen(target)) follow(target);
}).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["value"] });

// Streamlit's slider shows a position a frame after the pointer was there. So while a pointer holds
// it, charts go where the pointer is; a slider that then goes elsewhere is followed as ever.
let dragged;

const steps = ({ min, step }, at) => Math.round((at - min) / step);

function foreseen(input) {
  if (dragged?.input !== input || !dragged.meant.size) return false;
  if (dragged.meant.has(steps(input, input.value))) return true;
  letGo();
  return false;
}

function grasp({ target, clientX: x, isPrimary }) {
  const whole = slider(target) && target.closest(".stSlider");
  const inputs = whole?.querySelectorAll("input[type=range]");
  letGo();
  if (!isPrimary || inputs?.length !== 1) return;
  dragged = { input: inputs[0], x, meant: new Set() };
  tracked.observe(whole, { subtree: true, attributes: true, attributeFilter: ["class"] });
}

function drag({ clientX: x, isPrimary, buttons }) {
  if (!buttons) letGo();  // let go where nobody heard of it
  if (!dragged || !isPrimary) return;
  const { input, meant } = dragged, [low, high, step] = [input.min, input.max, input.step].map(Number);
  dragged.from ??= Number(input.value);  // a press beside the thumb has moved it by now
  dragged.length ??= input.closest("[data-orientation]").getBoundingClientRect().width;
  const to = dragged.from + (x - dragged.x) / dragged.length * (high - low);
  const number = steps(input, Math.min(high, Math.max(low, to)));
  meant.add(number);
  follow(input, Number((low + number * step).toPrecision(12)));  // without 0.30000000000000004
}

addEventListener("pointerdown", grasp, true);
addEventListener("pointermove", drag, true);
for (const end of ["pointerup", "pointercancel", "keydown"])
  addEventListener(end, letGo, true);

// For each position Streamlit adds a rule to its own large style sheet, and the browser then looks
// through all elements for what each of the rules there may change. While a pointer holds a slider
// its track has the rule's words for itself, and a small sheet gets the rules afterwards.
const insertRule = CSSStyleSheet.prototype.insertRule, largest = 50;
const owed = new Map();  // rules by their class
let small, track;

function insert(rule) {
  if (!(small?.cssRules.length < largest))
    small = document.head.appendChild(document.createElement("style")).sheet;
  insertRule.call(small, rule, small.cssRules.length);
}

CSSStyleSheet.prototype.insertRule = function (rule, ...place) {
  if (!document.body.hasAttribute("data-live") || !this.ownerNode?.dataset.emotion)
    return insertRule.call(this, rule, ...place);
  const [, name] = rule.match(/^\.([\w-]+)\{[^{}]*linear-gradient/) ?? [];
  if (dragged && name) owed.set(name, rule);
  else insert(rule);
  return place[0] ?? 0;
};

const tracked = new MutationObserver((seen) => {
  for (const { target } of seen) {
    const name = [...target.classList].find((one) => owed.has(one));
    if (name) track = target;
    if (target === track) track.style.cssText = name ? owed.get(name).slice(name.length + 2, -1) : "";
  }
});

function letGo() {
  dragged = undefined;
  tracked.disconnect();
  for (const rule of owed.values()) insert(rule);
  owed.clear();
  if (track) track.style.cssText = "";
  track = undefined;
}

export default function ({ data }) {
  sliders = data.sliders;
  sayings = data.sayings;
  document.body.removeAttribute("data-live");
}
