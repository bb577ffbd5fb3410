// Browsers offer their clipboard to pages that came by https or from this machine; a selection
// of one's own can be copied on any.
const shown = 2500, each = 100;  // milliseconds, at least and for a character

async function copied(text) {
  try { await navigator.clipboard.writeText(text); return true; } catch { /* the other way */ }
  const field = document.createElement("textarea");
  field.value = text;
  field.style.position = "fixed";
  field.style.opacity = "0";
  document.body.append(field);
  field.select();
  try { return document.execCommand("copy"); } catch { return false; } finally { field.remove(); }
}

export default function ({ parentElement, data }) {
  const button = parentElement.querySelector("button");
  const label = button.querySelector("span");
  const told = parentElement.querySelector(".told");
  if (!button.dataset.telling) label.textContent = data.label;
  button.onclick = async () => {
    const text = await copied(data.text) ? data.done : data.failed;
    button.dataset.telling = "yes";
    label.textContent = told.textContent = text;
    setTimeout(() => {
      delete button.dataset.telling;
      label.textContent = data.label;
      told.textContent = "";
    }, Math.max(shown, each * text.length));
  };
}
