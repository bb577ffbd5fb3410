// Draws a page from the JSON beside it. Every text becomes a text node: nothing is parsed as HTML,
// and of links only those to the web or to the page's own server are made.
const content = JSON.parse(document.getElementById("content").textContent);
const { editions, sets, configs } = content;
const rowsOnSvg = 2000;  // more marks than this answer the pointer faster on a canvas
const dark = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement, main = document.querySelector("main");
window.views = {};
let language = Object.keys(editions)[0], chosen = "", drawing = 0, edition = null;
let counted = 0;  // blocks of this drawing
let headed = false;  // whether a heading stands above

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.flat());
  return made;
}

// Markdown, as far as the pages use it.

const icons = {
  check_circle: "✓", check: "✓", task_alt: "✓", cancel: "✗", error: "⚠", warning: "⚠",
  translate: "⚠", info: "ⓘ", target: "◎", arrow_forward: "→", arrow_back: "←",
};

function link(label, address) {
  if (/^[\w-]+\.html$/.test(address)) return [element("a", { href: address }, label)];
  try {
    const url = new URL(address, edition.link || undefined);
    if (["http:", "https:"].includes(url.protocol))
      return [element("a", { href: url.href, rel: "noopener" }, label)];
  } catch { /* relative, of a page without an address */ }
  return label;
}

function formula(latex, displayMode) {
  const place = element(displayMode ? "div" : "span", { class: displayMode ? "formula" : "" });
  try {
    const limits = { maxSize: 10, maxExpand: 200, strict: false, trust: false };
    katex.render(latex, place, { output: "mathml", displayMode, ...limits });
  } catch {
    place.replaceChildren(element("code", {}, latex));
  }
  if (displayMode) place.tabIndex = 0;
  return place;
}

// Reads from a place until a sign that closes: the nodes, and where it stopped.
function read(text, at, end) {
  const nodes = [];
  let plain = "";
  const add = (...found) => { if (plain) nodes.push(plain); plain = ""; nodes.push(...found); };
  const inner = (from, close, make) => {
    const [found, stop] = read(text, from, close);
    if (!text.startsWith(close, stop)) return false;
    add(...make(found));
    at = stop + close.length;
    return true;
  };
  const match = (form) => { form.lastIndex = at; return form.exec(text); };
  while (at < text.length) {
    if (end && text.startsWith(end, at)) break;
    let found;
    if (found = match(/\\([!-\/:-@[-`{-~])/y)) plain += found[1];
    else if (found = match(/`([^`]+)`/y)) add(element("code", {}, found[1]));
    else if (found = match(/\$(?! )((?:\\.|[^$\\])+?)(?<! )\$/y)) add(formula(found[1], false));
    else if (found = match(/:material\/(\w+): ?/y))
      plain += icons[found[1]] ? `${icons[found[1]]} ` : "";
    else if (found = match(/ {2,}\n/y)) add(element("br"));
    else if (found = match(/:([a-z]+)(-badge|-background)?\[/y)) {
      const kind = `${found[1]}${found[2] ? " badged" : ""}`;
      const make = (inside) => [element("span", { class: kind }, inside)];
      if (inner(at + found[0].length, "]", make)) continue;
      plain += found[0];
    } else if (found = match(/\*\*|\*/y)) {
      const tag = found[0] === "**" ? "strong" : "em";
      if (inner(at + found[0].length, found[0], (inside) => [element(tag, {}, inside)])) continue;
      plain += found[0];
    } else if (found = match(/\[((?:\\.|[^\]\\])*)\]\(([^\s()]*)\)/y))
      add(...link(read(found[1], 0, "")[0], found[2]));
    else plain += text[at];
    at += found?.[0].length ?? 1;
  }
  add();
  return [nodes, at];
}

const inline = (text) => read(text, 0, "")[0];

function markdown(text) {
  return text.split(/\n{2,}/).filter((part) => part.trim()).map((part) => {
    const lines = part.trim().split("\n"), head = /^(#{1,6}) +(.*)$/.exec(lines[0]);
    if (head && lines.length === 1)
      return element(head[1].length < 3 ? "h2" : "h3", {}, inline(head[2]));
    if (lines.every((line) => /^\s*[-*] /.test(line)))
      return element("ul", {}, lines.map((line) =>
        element("li", {}, inline(line.replace(/^\s*[-*] /, "")))));
    if (lines.every((line) => /^\s*\d+\. /.test(line)))
      return element("ol", {}, lines.map((line) =>
        element("li", {}, inline(line.replace(/^\s*\d+\. /, "")))));
    if (lines.length > 1 && lines.every((line) => line.startsWith("|"))) return written(lines);
    return element("p", {}, inline(part.trim()));
  });
}

function written(lines) {
  const cells = (line) => line.slice(1).replace(/\|\s*$/, "").split(/(?<!\\)\|/)
    .map((cell) => inline(cell.trim()));
  const row = (line, tag) => element("tr", {}, cells(line).map((cell) => element(tag, {}, cell)));
  const body = lines.slice(1).filter((line) => !/^[|:\- ]+$/.test(line));
  return element("div", { class: "table", tabindex: 0 }, element("table", {},
    element("thead", {}, row(lines[0], "th")),
    element("tbody", {}, body.map((line) => row(line, "td")))));
}

// Blocks, as dashboard/storage/seen.py describes them.

const charts = [];  // of this drawing: place, name, and whether it is as wide as its place

const blocks = {
  heading: ({ text }) => (headed = true, [element("h2", {}, inline(text))]),
  markdown: ({ text }) => markdown(text),
  caption: ({ text }) => [element("div", { class: "caption" }, markdown(text))],
  error: ({ text }) => [element("div", { class: "error" }, markdown(text))],
  text: ({ text }) => [element("p", { class: "text" }, text)],
  latex: ({ text }) => [formula(text, true)],
  metric: ({ label, value }) =>
    [element("div", { class: "metric" }, inline(label), element("b", {}, inline(value)))],
  chart: drawChart,
  table: drawTable,
  group: drawGroup,
};

function below(held) {
  const nodes = [];
  let settings = null;  // what several controls were set to is one line
  for (const block of held ?? []) {
    const { slider, words } = edition.follows[counted++] ?? {};
    if (edition.sliders[slider]?.frames != null) {
      settings = null;
      nodes.push(drawSlider(block, edition.sliders[slider]));
      continue;
    }
    if (block.kind !== "setting") {
      settings = null;
      const drawn = blocks[block.kind](block);
      if (words) {
        const place = element("div", {}, drawn);
        followers.push({ place, words, block, text: block.text });
        nodes.push(place);
      } else nodes.push(...drawn);
      continue;
    }
    if (settings) settings.append(" · ");
    else nodes.push(settings = element("p", { class: "settings" }));
    settings.append(block.label, edition.words.colon, element("b", {}, block.value));
  }
  return nodes;
}

function drawGroup(group) {
  const { layout, letter, title, weights = [], blocks: held = [] } = group;
  if (layout === "row" || layout === "grid") {
    const place = element("div", { class: layout },
      held.map((block) => element("div", {}, below([block]))));
    const shares = weights.length === held.length ? weights : held.map(() => 1);
    if (held.length > 3) place.style.setProperty("--least", "250px");
    place.style.setProperty("--weights", shares.map((one) => `minmax(0, ${one}fr)`).join(" "));
    return [place];
  }
  const place = element("section", { class: group.border ? "group border" : "group" });
  if (letter || title) {
    const head = element("div", { class: "panel" });
    if (letter) head.append(element("span", { class: `badge badge-${letter}` }, letter));
    head.append(element(headed ? "h3" : "h2", {}, title ?? ""));
    place.append(head);
  }
  place.append(...below(held));
  return [place];
}

function drawChart({ name, alt, stretch }) {
  const place = element("div", { class: stretch === false ? "chart" : "chart wide", tabindex: 0 });
  const figure = element("figure", {}, place), picture = edition.pictures?.[name];
  place.setAttribute("role", "group");
  place.setAttribute("aria-label", alt || name);
  if (edition.charts[name]) charts.push({ place, name });
  else if (picture) place.append(element("img", { src: picture, alt: alt || name }));
  if (alt)
    figure.append(element("details", {},
      element("summary", {}, edition.words.inWords), element("p", {}, alt)));
  return [figure];
}

// Sliders: `live` is the script by which charts follow them on the pages.

const sliders = [], followers = [];  // of this drawing

async function framesOf(slider) {
  const bytes = Uint8Array.from(atob(content.frames[slider.frames]), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const held = await new Response(stream).json();
  for (const [chart, values] of Object.entries(slider.values)) held.tables[chart].parameters = values;
  return { ...held, words: slider.words };
}

function drawSlider({ label, value }, slider) {
  const id = `slider-${sliders.length}`, unit = value.replace(/^\S+/, "");
  const { low: min, high: max, step, at } = slider;
  const input = element("input", { type: "range", id, min, max, step, value: at });
  const output = element("output", { for: id }, value);
  const mine = { ...slider, input, output, value, held: framesOf(slider) };
  sliders.push(mine);
  input.value = at;
  input.setAttribute("aria-valuetext", value);
  input.oninput = async () => follow(mine, await mine.held, unit);
  return element("div", { class: "live" }, element("label", { for: id }, label), output, input);
}

function put(slider, held, at, said) {
  slider.output.textContent = said;
  slider.input.setAttribute("aria-valuetext", said);
  live.show(held, slider.of, at);
}

function say(follower, text) {
  if (follower.text === text) return;
  follower.text = text;
  follower.place.replaceChildren(...blocks[follower.block.kind]({ text }));
}

let last = null;  // the slider that was moved last

async function follow(slider, held, unit) {
  if (last && last !== slider) {
    const before = last;
    before.input.value = before.at;
    put(before, await before.held, before.at, before.value);
  }
  last = slider;
  const at = Number(slider.input.value), moved = Math.abs(at - slider.at) > 1e-9;
  document.body.toggleAttribute("data-live", moved);
  const said = document.querySelector(".moved"), text = moved ? edition.words.moved : "";
  if (said.textContent !== text) said.textContent = text;
  put(slider, held, at, moved ? `${at}${unit}` : slider.value);
  const { words } = document.body.value;
  for (const one of followers) say(one, (moved && words[one.words]) || one.block.text);
}

function stand() {
  last = document.body.value = null;
  document.body.removeAttribute("data-live");
  for (const one of sliders) {
    one.input.value = one.at;
    one.output.textContent = one.value;
  }
  for (const one of followers) say(one, one.block.text);
}

// As printf: %d, %.3f, %+,d, %.1f%%, %g.
function formatted(value, format) {
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return value.map((each) => formatted(each, format)).join(", ");
  if (typeof value !== "number") return String(value);
  const found = /^%([+,]?)(?:\.(\d))?([defg])(%?)/.exec(format ?? "");
  if (!found) return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));
  const [, flag, digits, kind, percent] = found;
  let said = kind === "d" ? value.toFixed(0)
    : kind === "f" ? value.toFixed(digits ?? 6)
    : kind === "e" ? value.toExponential(Number(digits ?? 6))
    : String(Number(value.toPrecision(Number(digits ?? 6) || 1)));
  if (flag === ",") said = said.replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ",");
  if (!Number(said)) said = said.replace("-", "");
  return (flag === "+" && value >= 0 ? "+" : "") + said.replace("-", "−") + percent;
}

function drawTable({ name, formats = {}, bold = [], stretch }) {
  const { columns, rows, left } = edition.tables[name];
  const strong = new Set(bold.map(([row, column]) => `${row} ${column}`));
  const numbers = columns.map((_, i) => rows.some((row) => typeof row[i] === "number"));
  const cell = (tag, text, number) => element(tag, number ? { class: "number" } : {}, text);
  const head = columns.map((column, i) => cell(column ? "th" : "td", column, numbers[i]));
  const body = rows.map((row, y) => element("tr", {}, row.map((value, i) => {
    const said = formatted(value, formats[columns[i]]);
    const text = strong.has(`${y} ${columns[i]}`) ? element("b", {}, said) : said;
    return cell("td", text, numbers[i]);
  })));
  const place = element("div", { class: stretch === false ? "table" : "table wide", tabindex: 0 },
    element("table", { "aria-label": name }, element("thead", {}, element("tr", {}, head)),
      element("tbody", {}, body)));
  return left ? [place, element("p", { class: "caption" }, left)] : [place];
}

// Charts.

function rowsOf(set) {
  const held = sets[set];
  if (Array.isArray(held)) return held;
  const names = Object.keys(held);
  return (held[names[0]] ?? []).map((_, row) =>
    Object.fromEntries(names.map((name) => [name, held[name][row]])));
}

function specification(name, place) {
  const spec = structuredClone(edition.charts[name]);
  const scheme = chosen || (dark.matches ? "dark" : "light");
  let most = 0;
  for (const [set, held] of Object.entries(spec.datasets ?? {})) {
    spec.datasets[set] = rowsOf(held);
    most = Math.max(most, spec.datasets[set].length);
  }
  spec.config = { ...spec.config, ...configs[scheme] };
  if (spec.autosize?.type === "fit-x") spec.width = Math.max(120, place.clientWidth);
  const renderer = most > rowsOnSvg ? "canvas" : "svg";
  const options = { renderer, actions: false, ast: true, tooltip: { theme: scheme } };
  return [spec, options];
}

async function drawCharts() {
  const mine = ++drawing;
  for (const chart of charts) {
    const [spec, options] = specification(chart.name, chart.place);
    try {
      const made = await vegaEmbed(chart.place, spec, options);
      if (mine !== drawing) return made.finalize();
      chart.made?.finalize();
      chart.made = made;
      chart.wide = spec.autosize?.type === "fit-x";
      window.views[chart.name] = made.view;
    } catch (error) {
      chart.place.textContent = String(error.message ?? error);
    }
    await new Promise((next) => setTimeout(next));  // the reader may scroll between two charts
    if (mine !== drawing) return;
  }
  root.dataset.drawn = `${language} ${chosen}`;
}

let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  for (const { made, place, wide } of charts)
    if (made && wide) made.view.width(Math.max(120, place.clientWidth)).runAsync();
});

// The page.

function draw() {
  edition = editions[language];
  root.lang = edition.tag;
  document.title = edition.title;
  document.querySelector("h1").textContent = edition.title;
  stand();
  sliders.length = followers.length = counted = 0;
  charts.splice(0).forEach(({ made }) => made?.finalize());
  window.views = {};
  const nav = document.querySelector("nav");
  nav.replaceChildren();
  if (edition.link) nav.append(...link([edition.words.live], edition.link));
  for (const [code, { name, tag }] of Object.entries(editions)) {
    if (code === language) continue;
    const button = element("button", { type: "button", lang: tag }, name);
    button.onclick = () => { language = code; draw(); };
    nav.append(button);
  }
  const theme = element("button", { type: "button" }, edition.words.scheme);
  theme.onclick = () => {
    stand();
    chosen = (chosen || (dark.matches ? "dark" : "light")) === "dark" ? "light" : "dark";
    root.dataset.scheme = chosen;
    drawCharts();
  };
  nav.append(theme);
  headed = false;
  main.replaceChildren(...below(edition.seen));
  if (sliders.length) main.append(element("p", { class: "moved", role: "status" }, ""));
  if (edition.note) main.prepend(element("p", { class: "note" }, edition.note));
  return drawCharts();
}

dark.addEventListener("change", drawCharts);
draw();
