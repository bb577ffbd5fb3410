// What the browser does on every page beyond what Streamlit has it do. A page begins at its top,
// and the menu that covers it on a phone is closed: Streamlit leaves both as they were on the page
// before. A link inside a container of the key `to-formula` leads to its page's field of formulas.
// The tab key goes from a popover's button into it. A tap shows a chart's tooltip, and scrolling
// hides it. A chosen language is remembered in a cookie, which a page can only set by script. What
// is not drawn yet says so in words, which the style sheet puts into the grey boxes.
const wayToFormula = ".st-key-to-formula a";

const narrow = 768;  // px; below it Streamlit's menu of pages covers the page
const patience = 10000;  // milliseconds until a page is drawn
const acts = ["wheel", "touchstart", "pointerdown", "keydown"];
let page = null, remembered = "", sought = false;

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

// Charts above the field still grow, and the field may be drawn anew, until the visitor acts.
function landAtFormula() {
  const look = () => {
    const field = document.querySelector('[class*="st-key-"][class*="-formula"] input');
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

export default function ({ data }) {
  document.documentElement.lang = data.tag;
  document.documentElement.style.setProperty("--drawing", JSON.stringify(data.drawing));
  if (page !== null && page !== data.page) begin();
  page = data.page;
  remember(data.chosen);
}
