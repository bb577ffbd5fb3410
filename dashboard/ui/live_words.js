// A sentence that follows a slider as the charts do, see live.js. The server's own words stand
// again as soon as they are those of the position.
const before = new Map();

export default function ({ key, data, parentElement }) {
  before.get(key)?.();
  const place = parentElement.querySelector("p");
  const tell = () => {
    const live = document.body.value, at = live && data.sliders[live.of];
    const moves = at !== undefined && Math.abs(live.at - at) > 1e-9;
    place.textContent = (moves ? live.words[data.name] : null) ?? data.text;
  };
  document.body.addEventListener("live words", tell);
  before.set(key, () => document.body.removeEventListener("live words", tell));
  tell();
  return before.get(key);
}
