// A slider that no chart follows tells the server on release only. From its first move until the
// server's charts are there, what stands on the page is of the position before: it fades, and the
// corner says what is waited for; see dashboard/loading.css.
const soon = 150;  // ms, for what follows to begin
const often = 1000;  // ms; a busy browser does not tell that a short run has been
let due = 0, moved = null;  // the slider, where it stood, and what waits for it
let pressed = false, looking = 0, rested = 0;

// The panel that the slider is in, and what is said of all panels; else the whole page.
function waiting(input) {
  let place = input.closest("[class*=st-key-]");
  while (place && !place.querySelector("[data-testid=stVegaLiteChart]"))
    place = place.parentElement.closest("[class*=st-key-]");
  const all = document.querySelectorAll(place ? ".st-key-side-by-side" : "[data-testid=stMain]");
  return place ? [place, ...all] : [...all];
}

function arrived() {
  for (const place of moved?.places ?? []) place.removeAttribute("data-waits");
  document.body.removeAttribute("data-waits");
  moved = null;
}

function say() {
  due = 0;
  if (!moved || document.body.hasAttribute("data-live")) return;
  const { input, before, places } = moved;
  if (input.value === before) return arrived();
  const said = `${input.ariaLabel ?? ""} ${input.ariaValueText ?? input.value}`.trim();
  for (const [name, text] of Object.entries(sayings))
    document.documentElement.style.setProperty(name, JSON.stringify(text.replace("{slider}", said)));
  for (const place of [document.body, ...places]) place.setAttribute("data-waits", "");
  rested = 0;
  clearTimeout(looking);
  looking = setTimeout(look, often);
}

function look() {
  if (!moved) return;
  const runs = !document.querySelector("[data-test-script-state=notRunning]");
  rested = pressed || runs ? 0 : rested + 1;
  if (rested > 1) arrived();
  else looking = setTimeout(look, often);
}

for (const event of ["pointerdown", "pointerup", "pointercancel"])
  addEventListener(event, () => { pressed = event === "pointerdown"; }, true);

new MutationObserver((seen) => {
  for (const { target, oldValue } of seen) {
    if (target.type !== "range" || target !== document.activeElement) continue;
    if (moved?.input !== target) arrived();
    moved ??= { input: target, before: oldValue, places: waiting(target) };
    due ||= setTimeout(say, soon);
  }
}).observe(document.body, {
  subtree: true, attributes: true, attributeFilter: ["value"], attributeOldValue: true,
});

new MutationObserver((seen) => {
  if (moved && seen.at(-1).target.dataset.testScriptState === "notRunning") arrived();
}).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["data-test-script-state"] });
