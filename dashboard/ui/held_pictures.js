// A chart that gets another map, or is made anew, is empty for two or three frames: the browser
// decodes a map only after Vega has drawn without it. Until it is there, the picture that the chart
// showed before stays over it: a copy that is made as the server is asked, as a run of the page
// begins without being asked for, or as the chart is pressed. A chart that is gone by then is copied
// as another one stands in its place.
const charts = "[data-testid=stVegaLiteChart]", marks = "canvas, svg.marks";
const longest = 1000;  // ms that a picture stays where nothing new comes
const redrawn = 30;  // ms after which Vega has drawn what is loaded; it looks every 10 ms

const copies = new Map();  // by chart
const loading = new Set();  // images
let ways = new Map();  // by chart that is drawn
let runs = false, of = "", resting = 0, ending = 0, noting = 0;

const isDrawn = (chart) => chart.querySelector(marks);
const shown = () => [...copies].filter(([, { held }]) => "shown" in held.dataset);

function copy([chart, drawn, box, from, way]) {
  if (!drawn || box.bottom < 0 || box.top > innerHeight) return;
  const held = document.createElement("div"), picture = drawn.cloneNode(true);
  if (drawn.tagName === "CANVAS") picture.getContext("2d").drawImage(drawn, 0, 0);
  picture.style.translate = `${box.left - from.left}px ${box.top - from.top}px`;
  for (const mark of picture.querySelectorAll("[aria-label]")) mark.removeAttribute("aria-label");
  held.className = "held-picture";
  held.ariaHidden = "true";
  held.append(picture);
  chart.parentElement.append(held);
  const maps = drawn.tagName === "CANVAS" || drawn.querySelector("image");
  copies.set(chart, { held, maps, way });
}

// Elements around a chart, from the inmost, the child that leads to it, and its number.
function wayTo(chart) {
  const way = [];
  for (let at = chart; at.parentElement; at = at.parentElement)
    way.push([at.parentElement, at, [...at.parentElement.children].indexOf(at)]);
  return way;
}

// The chart that stands where another one was; it may have come before that one goes.
function next(way) {
  const left = way.findIndex(
    ([around, child, number]) => around.isConnected && around.children[number] !== child);
  let at = way[left]?.[0];
  for (const [, , number] of way.slice(0, left + 1).reverse()) at = at?.children[number];
  return at?.matches(charts) ? at : null;
}

function note() {
  const drawn = [...document.querySelectorAll(charts)].filter(isDrawn);
  ways = new Map(drawn.map((chart) => [chart, wayTo(chart)]));
  of = location.pathname;
}

function leave() {
  clearTimeout(resting);
  loading.clear();
  for (const { held } of copies.values()) held.remove();
  copies.clear();
  note();
}

function keep(found) {
  if (shown().length) return;
  leave();
  // All is measured before anything is changed: else each copy would have the page laid out anew.
  const measured = [...found].map((chart) => {
    const drawn = chart.querySelector(marks), boxes = [drawn, chart.parentElement];
    const [box, from] = boxes.map((each) => each?.getBoundingClientRect());
    return [chart, drawn, box, from, ways.get(chart)];
  });
  measured.forEach(copy);
  if (!runs) rest();
}

function rest() {
  clearTimeout(resting);
  resting = setTimeout(leave, longest);
}

function show({ held }) {
  if ("shown" in held.dataset) return;
  held.dataset.shown = "";
  rest();
}

const isThere = () => !loading.size && shown().every(([chart]) => isDrawn(chart));

function end() {
  clearTimeout(ending);
  if (!shown().length || !isThere()) return;
  const own = ending = setTimeout(() => requestAnimationFrame(() => {
    if (own !== ending || !isThere()) return;
    leave();
    setTimeout(() => keep(document.querySelectorAll(charts)));  // the next one may come later
  }), redrawn);
}

function load(image) {
  if (!copies.size) return;
  clearTimeout(ending);
  ending = 0;
  loading.add(image);
  for (const one of [...copies.values()]) if (one.maps) show(one);
  for (const event of ["load", "error"]) image.addEventListener(event, () => {
    loading.delete(image);
    end();
  });
}

// Vega loads its maps by images that are no part of the page.
window.Image = new Proxy(Image, {
  construct(made, given) {
    const image = new made(...given);
    load(image);
    return image;
  },
});

// Lays what a chart showed over the one that has taken its place.
function replace(chart, way) {
  const other = next(way);
  if (!other || copies.has(other) || isDrawn(other)) return;
  ways.delete(chart);
  const [box, from] = [other, other.parentElement].map((each) => each.getBoundingClientRect());
  copy([other, chart.querySelector(marks), box, from, wayTo(other)]);
}

function follow(chart, one) {
  const other = next(one.way);
  if (!chart.isConnected && !other) return;
  if (other && !copies.has(other) && !(chart.isConnected && isDrawn(other))) {
    other.parentElement.append(one.held);
    copies.delete(chart);
    copies.set(other, one);
    chart = other;
  }
  if (!isDrawn(chart)) show(one);
}

new MutationObserver(() => {
  if (location.pathname !== of) {  // charts and copies are of another page
    leave();
    ways.clear();
  }
  for (const [chart, way] of ways) if (!copies.has(chart)) replace(chart, way);
  for (const [chart, one] of [...copies]) follow(chart, one);
  end();
  noting ||= setTimeout(() => {
    noting = 0;
    if (!copies.size) note();
  }, longest / 4);
}).observe(document.body, { childList: true, subtree: true });

new MutationObserver((seen) => {
  const before = runs;
  runs = seen.at(-1).target.dataset.testScriptState !== "notRunning";
  if (runs === before) return;
  if (!runs) rest();
  else if (copies.size) clearTimeout(resting);
  else keep(document.querySelectorAll(charts));
}).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["data-test-script-state"] });

// Streamlit asks for every run by its socket. A browser that is busy does not tell that a short run
// has begun. What a key changes at once is painted first.
WebSocket.prototype.send = new Proxy(WebSocket.prototype.send, {
  apply(send, socket, given) {
    Reflect.apply(send, socket, given);
    requestAnimationFrame(() => setTimeout(() => keep(document.querySelectorAll(charts))));
  },
});

addEventListener("pointerdown", (event) => {
  const chart = event.target.closest?.(charts);
  if (chart && !runs) keep([chart]);
}, true);
