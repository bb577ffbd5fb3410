// A chart that gets another map, or is made anew, is empty for two or three frames: the browser
// decodes a map only after Vega has drawn without it. Until it is there, the picture that the chart
// showed before stays over it: a copy that is made as a run of the page begins, or as the chart is
// pressed.
const charts = "[data-testid=stVegaLiteChart]", marks = "canvas, svg.marks";
const longest = 1000;  // ms that a picture stays where nothing new comes
const redrawn = 30;  // ms after which Vega has drawn what is loaded; it looks every 10 ms

const copies = new Map();  // by chart
const loading = new Set();  // images
let runs = false, of = "", resting = 0, ending = 0;

const isDrawn = (chart) => chart.querySelector(marks);
const shown = () => [...copies].filter(([, { held }]) => "shown" in held.dataset);

function copy([chart, drawn, box, from]) {
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
  copies.set(chart, { held, maps, way: wayTo(chart) });
}

// Elements around a chart, from the inmost, and the number of the child that leads to it.
function wayTo(chart) {
  const way = [];
  for (let at = chart; at.parentElement; at = at.parentElement)
    way.push([at.parentElement, [...at.parentElement.children].indexOf(at)]);
  return way;
}

// The chart that stands where another one was.
function next(way) {
  const left = way.findIndex(([around]) => around.isConnected);
  let at = way[left]?.[0];
  for (const [, number] of way.slice(0, left + 1).reverse()) at = at?.children[number];
  return at?.matches(charts) ? at : null;
}

function leave() {
  clearTimeout(resting);
  loading.clear();
  for (const { held } of copies.values()) held.remove();
  copies.clear();
}

function keep(found) {
  if (shown().length) return;
  leave();
  of = location.pathname;
  // All is measured before anything is changed: else each copy would have the page laid out anew.
  const measured = [...found].map((chart) => {
    const drawn = chart.querySelector(marks), boxes = [drawn, chart.parentElement];
    return [chart, drawn, ...boxes.map((each) => each?.getBoundingClientRect())];
  });
  measured.forEach(copy);
  if (!runs) rest();
}

function rest() {
  clearTimeout(resting);
  resting = setTimeout(leave, longest);
}

function show({ held }) {
  if (location.pathname !== of) leave();  // it is of another page
  else if (!("shown" in held.dataset)) {
    held.dataset.shown = "";
    rest();
  }
}

const isThere = () => !loading.size && shown().every(([chart]) => isDrawn(chart));

function end() {
  clearTimeout(ending);
  if (!shown().length || !isThere()) return;
  const own = ending = setTimeout(() => requestAnimationFrame(() => {
    if (own !== ending || !isThere()) return;
    leave();
    keep(document.querySelectorAll(charts));  // the next one may come later
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

function follow(chart, one) {
  if (!chart.isConnected) {
    const other = next(one.way);
    if (!other || copies.has(other)) return;
    other.parentElement.append(one.held);
    copies.delete(chart);
    copies.set(other, one);
    chart = other;
  }
  if (!isDrawn(chart)) show(one);
}

new MutationObserver(() => {
  for (const [chart, one] of [...copies]) follow(chart, one);
  end();
}).observe(document.body, { childList: true, subtree: true });

new MutationObserver((seen) => {
  const before = runs;
  runs = seen.at(-1).target.dataset.testScriptState !== "notRunning";
  if (runs && !before) keep(document.querySelectorAll(charts));
  if (!runs && before) rest();
}).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["data-test-script-state"] });

addEventListener("pointerdown", (event) => {
  const chart = event.target.closest?.(charts);
  if (chart && !runs) keep([chart]);
}, true);
