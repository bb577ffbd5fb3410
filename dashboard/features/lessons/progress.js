// A browser may refuse to store anything; then ticks last as long as the page.
const place = "attention-workbench-lessons";
let held = [];

function known() {
  try { held = JSON.parse(localStorage.getItem(place)) || []; } catch { /* not stored */ }
  return Array.isArray(held) ? held : [];
}

function keep(done) {
  held = done;
  try { localStorage.setItem(place, JSON.stringify(done)); } catch { /* not stored */ }
}

export default function ({ parentElement, data, setTriggerValue }) {
  const list = parentElement.querySelector("ol");
  const said = parentElement.querySelector(".said");
  const reset = parentElement.querySelector("button");

  function draw() {
    const done = known().filter((name) => data.lessons.some((one) => one.name === name));
    list.replaceChildren(...data.lessons.map((one, index) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      const finished = done.includes(one.name);
      link.href = one.link;
      link.textContent = String(index + 1);
      link.title = one.title;
      link.setAttribute("aria-label", finished ? one.finished : one.open);
      if (finished) link.dataset.done = "yes";
      if (index + 1 === data.current) link.setAttribute("aria-current", "step");
      link.onclick = (event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        setTriggerValue("chosen", index + 1);
      };
      item.append(link);
      return item;
    }));
    said.textContent = data.words.count.replace("{done}", done.length)
      .replace("{all}", data.lessons.length);
    reset.textContent = data.words.reset;
    reset.hidden = !done.length;
  }

  if (data.finished && !known().includes(data.finished)) keep([...known(), data.finished]);
  reset.onclick = () => { keep([]); draw(); setTriggerValue("chosen", 0); };
  const other = (event) => { if (event.key === place) draw(); };
  window.addEventListener("storage", other);
  draw();
  return () => window.removeEventListener("storage", other);
}
