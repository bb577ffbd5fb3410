// A sentence that follows a slider as the charts do, see live.js. The server's own words stand
// again as soon as they are those of the position.
const before = new Map();

function element(name, text, look = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = look;
  return made;
}

function matrix(body) {
  const rows = body.split("\\\\").map((row) => row.split("&")), made = element("span", "", "matrix");
  made.style.gridTemplateColumns = `repeat(${rows[0].length}, auto)`;
  made.append(...rows.flat().map((cell) => element("span", cell.trim().replace("-", "−"))));
  return made;
}

// Of Markdown what is bold and what a backslash keeps as it stands, of LaTeX matrices.
const drawn = {
  markdown: (text) => text.split("**").map((part, bold) =>
    element(bold % 2 ? "strong" : "span", part.replace(/\\([^\w\s])/g, "$1"))),
  latex: (text) => text.split(/\\begin\{bmatrix\}(.*?)\\end\{bmatrix\}/).map((part, inside) =>
    inside % 2 ? matrix(part) : element("span", part)),
};

export default function ({ key, data, parentElement }) {
  before.get(key)?.();
  const place = parentElement.querySelector("p");
  place.className = data.kind;
  let told;
  const tell = () => {
    const live = document.body.value, at = live && data.sliders[live.of];
    const moves = at !== undefined && Math.abs(live.at - at) > 1e-9;
    const text = (moves ? live.words[data.name] : null) ?? data.text;
    if (text === told) return;  // the page need not be laid out anew
    told = text;
    place.replaceChildren(...(drawn[data.kind]?.(text) ?? [text]));
  };
  document.body.addEventListener("live words", tell);
  before.set(key, () => document.body.removeEventListener("live words", tell));
  tell();
  return before.get(key);
}
