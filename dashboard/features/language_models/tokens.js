export default function ({ parentElement, data }) {
  const list = parentElement.querySelector("ol");
  list.setAttribute("aria-label", data.label);
  list.replaceChildren(...data.tokens.map((one) => {
    const item = document.createElement("li");
    const word = document.createElement("span");
    const loss = document.createElement("small");
    word.textContent = one.text;
    loss.textContent = one.loss;
    item.title = one.title;
    item.style.setProperty("--share", one.share);
    if (one.written) item.dataset.written = "yes";
    item.append(word, loss);
    return item;
  }));
}
