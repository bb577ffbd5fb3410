// Notes, in every frame that a browser paints, what a page says of what it waits for:
// `window.waits` is [[ms, said, dumb, running], ...], a row for every change. `said` is "" where
// nothing in the page's main part can be read, "words" where it says that it loads, else the page's
// title. `dumb` counts the grey boxes within the window that no words stand in. `running` tells
// whether the page says that what is seen may be of before.
// `window.opening` is what is said first, by a style sheet.
window.waits = [];
window.opening = "";
(() => {
  const GREY = "[data-testid=stSkeleton], [data-testid=stSkeletonElement],"
    + "[data-testid=stAppSkeleton]";
  const written = (element, part) => {
    const { content, visibility } = getComputedStyle(element, part);
    return !["none", "normal", '""'].includes(content) && visibility === "visible";
  };
  const isSeen = (element) => {
    const { width, height, top, bottom } = element.getBoundingClientRect();
    return width > 0 && height > 0 && bottom > 0 && top < innerHeight;
  };
  const look = (now) => {
    if (document.getElementById("root")) {
      const app = document.querySelector(".stApp");
      const opening = written(app ?? document.getElementById("root"), "::before");
      if (opening && !window.opening)
        window.opening = getComputedStyle(app ?? document.getElementById("root"), "::before").content;
      const grey = [...document.querySelectorAll(GREY)].filter(isSeen);
      const above = "[data-testid=stElementContainer]:has(.stProgress) ~ *, .st-key-starting";
      const dumb = grey.filter((box) => !written(box, "::after") && !opening && !box.closest(above));
      const title = document.querySelector("[data-testid=stMain] h1")?.textContent ?? "";
      const told = opening || grey.length > dumb.length;
      const said = title || (told ? "words" : "");
      const running = Boolean(app && written(app, "::after"));
      const last = window.waits.at(-1);
      if (!last || last[1] !== said || last[2] !== dumb.length || last[3] !== running)
        window.waits.push([now, said, dumb.length, running]);
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})();
