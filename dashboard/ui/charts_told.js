// What charts show, in whole sentences, for those who hear a page. Streamlit embeds a chart anew
// where its alternative text differs, so it is told only the title; Vega makes that the chart's
// label as it is embedded, and here the label gets the numbers too.
const charts = "[data-testid=stVegaLiteChart]";
const known = new Map();  // by chart: its title, and the label that it was given
let whole = {};  // by title

function tell(chart) {
  const label = chart.ariaLabel, before = known.get(chart);
  const title = before?.said === label ? before.title : label, said = whole[title];
  if (!said || said === label) return;
  known.set(chart, { title, said });
  chart.ariaLabel = said;
}

new MutationObserver((seen) => {
  for (const { target } of seen) if (target.matches(charts)) tell(target);
}).observe(document.body, { subtree: true, attributes: true, attributeFilter: ["role"] });

export default function ({ data }) {
  whole = data;
  for (const chart of known.keys()) if (!chart.isConnected) known.delete(chart);
  document.querySelectorAll(charts).forEach(tell);
}
