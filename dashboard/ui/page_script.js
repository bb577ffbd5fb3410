// What the browser does on every page beyond what Streamlit has it do. A page begins at its top,
// and the menu that covers it on a phone is closed: Streamlit leaves both as they were on the page
// before. A link inside a container of the key `to-formula` leads to its page's field of formulas.
// The tab key goes from a popover's button into it. A tap shows a chart's tooltip, and scrolling
// hides it. A chosen language is remembered in a cookie, which a page can only set by script. What
// is not drawn yet says so in words, which the style sheet puts into the grey boxes. What is cut
// off is shown whole to a pointer that rests on it; on paper, a table says so. A finger that
// scrolls moves no slider. A page in a frame tells its host how high it is.
const wayToFormula = ".st-key-to-formula a";
const formulaField = '[class*="st-key-"][class*="-formula"] input';

const narrow = 768;  // px; below it Streamlit's menu of pages covers the page
const patience = 10000;  // milliseconds until a page is drawn
const acts = ["wheel", "touchstart", "pointerdown", "keydown"];
let page = null, remembered = "", sought = false, menu = "", stepped = null;

function begin() {
  const menu = document.querySelector("[data-testid=stSidebar][data-collapsed=false]");
  if (innerWidth < narrow)
    menu?.querySelector("[data-testid=stSidebarCollapseButton] button")?.click();
  document.querySelector("[data-testid=stMain]")?.scrollTo({ top: 0, behavior: "instant" });
  if (sought) landAtFormula();
  sought = false;
}

function remember({ cookie, language, seconds }) {
  if (!language || language === remembered) return;
  remembered = language;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${cookie}=${language}; Max-Age=${seconds}; Path=/; SameSite=Lax${secure}`;
}

// Vega shows a tooltip when a pointer moves, and hides it when a mouse leaves.
function hideTooltip() {
  document.getElementById("vg-tooltip-element")?.classList.remove("visible");
}

function showTooltip(event) {
  if (event.pointerType !== "touch") return;
  if (!event.target.closest?.("[data-testid=stVegaLiteChart]")) return;
  const { clientX, clientY } = event;
  const moved = { bubbles: true, clientX, clientY, pointerType: "touch" };
  event.target.dispatchEvent(new PointerEvent("pointermove", moved));
}

addEventListener("scroll", hideTooltip, { capture: true, passive: true });
addEventListener("click", showTooltip);
addEventListener("click", (event) => {
  sought = Boolean(event.target.closest?.(wayToFormula));
}, true);

// Each step of a slider is an address of its own. They replace each other: one press of *Back* leads
// to where the slider stood before it was moved.
const push = history.pushState.bind(history);
history.pushState = (state, unused, url) => {
  const active = document.activeElement;
  const now = active?.matches("input[type=range], input[type=number]") ? active : null;
  const same = now && now === stepped && new URL(url, location.href).pathname === location.pathname;
  stepped = now;
  if (same) history.replaceState(state, unused, url);
  else push(state, unused, url);
};
addEventListener("popstate", () => { stepped = null; });

// A finger that scrolls may begin on a slider's thumb, which follows one that goes sideways.
let touched = null;  // where a finger came down on a slider
addEventListener("pointerdown", (event) => {
  const slid = event.pointerType === "touch" && event.target.closest?.(".stSlider");
  touched = slid ? event : null;
}, true);
addEventListener("pointermove", (event) => {
  if (event.pointerId !== touched?.pointerId) return;
  const across = Math.abs(event.clientX - touched.clientX);
  if (across > Math.abs(event.clientY - touched.clientY)) touched = null;
  else event.stopImmediatePropagation();
}, true);

addEventListener("pointerover", ({ target }) => {
  if (target.matches?.(
    ".stApp input[type=text], .stMarkdownEllipsis, .stMarkdownEllipsis p, [role=option] > div"
  ))
    target.title = target.scrollWidth > target.clientWidth ? target.value ?? target.textContent : "";
});

// Once the first run of a page is over, all of it is there; see loading.css.
function noteDrawn() {
  if (page !== null && document.querySelector("[data-test-script-state=notRunning]"))
    document.body.dataset.drawn = "";
}

new MutationObserver(noteDrawn).observe(document.body, {
  subtree: true, attributes: true, attributeFilter: ["data-test-script-state"],
});

// A sheet of paper cannot be scrolled: it says where there is more of a table.
addEventListener("beforeprint", () => {
  for (const table of document.querySelectorAll("[data-testid=stDataFrame]")) {
    const inner = table.querySelector(".dvn-scroller");
    const more = inner && (inner.scrollWidth > inner.clientWidth + 1
      || inner.scrollHeight > inner.clientHeight + 1);
    table.closest(".stElementContainer")?.toggleAttribute("data-more", Boolean(more));
  }
});

// Streamlit calls it "Expand sidebar", in English.
function nameMenu() {
  const button = document.querySelector("[data-testid=stExpandSidebarButton]");
  if (button && button.ariaLabel !== menu) button.ariaLabel = menu;
}

// The message by which learning platforms know how high a frame wants to be.
function tellHeight() {
  const content = document.querySelector("[data-testid=stMainBlockContainer]");
  if (parent === window || !content || content.told) return;
  content.told = new ResizeObserver(() => {
    const height = Math.ceil(content.getBoundingClientRect().height);
    parent.postMessage({ subject: "lti.frameResize", height }, "*");
  });
  content.told.observe(content);
}

// Streamlit draws an open popover at the end of the document, far from its button.
function tabThroughPopover(event) {
  if (event.key !== "Tab") return;
  const body = document.querySelector("[data-testid=stPopoverBody]");
  const button = document.querySelector("[data-testid=stPopoverButton][aria-expanded=true]");
  if (!body || !button) return;
  const stops = [...body.querySelectorAll("a[href], button, input, textarea, [tabindex='0']")]
    .filter((each) => !each.disabled && each.tabIndex >= 0 && each.getClientRects().length);
  const last = event.shiftKey ? stops[0] : stops.at(-1);
  const active = document.activeElement;
  if (active === button && !event.shiftKey && stops.length) {
    event.preventDefault();
    stops[0].focus();
  } else if (active === last) {
    button.focus();  // from which the browser goes on, or stays where it came from
    if (event.shiftKey) event.preventDefault();
  }
}

addEventListener("keydown", tabThroughPopover, true);

// A list of several choices stays open, and would lie over the field that its choice opens.
function leaveList({ type, key }) {
  if (type === "keydown" && key !== "Enter") return;
  if (document.activeElement?.ariaExpanded === "true" && !document.querySelector(formulaField))
    landAtFormula();
}

addEventListener("pointerup", leaveList, true);
addEventListener("keydown", leaveList, true);

// Charts above the field still grow, and the field may be drawn anew, until the visitor acts.
function landAtFormula() {
  const look = () => {
    const field = document.querySelector(formulaField);
    if (!field) return;
    if (document.activeElement !== field) {
      field.focus({ preventScroll: true });
      field.select();
    }
    field.scrollIntoView({ block: "center", behavior: "instant" });
  };
  const drawing = new MutationObserver(look), growing = new ResizeObserver(look);
  const leave = () => {
    drawing.disconnect();
    growing.disconnect();
    acts.forEach((act) => removeEventListener(act, leave, true));
  };
  drawing.observe(document.body, { childList: true, subtree: true });
  growing.observe(document.querySelector("[data-testid=stMainBlockContainer]"));
  acts.forEach((act) => addEventListener(act, leave, true));
  setTimeout(leave, patience);
}

let header = null;

export default function ({ data }) {
  document.documentElement.lang = data.tag;
  const { drawing, menu: pages, more } = data;
  const words = { drawing, menu: pages, opening: drawing, more };  // of any page
  for (const [name, said] of Object.entries(words))
    document.documentElement.style.setProperty(`--${name}`, JSON.stringify(said));
  menu = pages;
  if (!header?.isConnected && (header = document.querySelector("[data-testid=stHeader]")))
    new MutationObserver(nameMenu).observe(header, { childList: true, subtree: true });
  nameMenu();
  tellHeight();
  if (page !== null && page !== data.page) begin();
  if (page !== data.page) delete document.body.dataset.drawn;
  page = data.page;
  noteDrawn();
  remember(data.chosen);
}
