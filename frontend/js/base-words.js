// Says what 100 % of a graph is, and what of the run it does not show.
import { formatPercent, formatPlural, formatValue } from "./format.js";
import { unitOf } from "./run-view.js";

/** The sentence for a tree of a run's value type, zoomed to `focus`; `of` is what all of it is, `thinned` what it has lost. */
export function baseWords(tree, focus, type, { of = "the whole run", thinned = "" } = {}) {
  const amount = amountOf(tree, focus, type);
  if (focus > 0)
    return `The view is ${amount}, ${formatPercent(tree.width[focus] / tree.width[0])} of ${all(tree)}. ${hiddenWords(tree, thinned)}`;
  const { whole } = tree.header;
  if (!whole || whole.total === tree.total[0]) return `100 % is ${amount}, ${of}. ${hiddenWords(tree, thinned)}`;
  const share = whole.total ? `, ${formatPercent(tree.total[0] / whole.total)}` : "";
  return `100 % is ${amount} of the run's ${formatValue(whole.total, unitOf(type))}${share}. ${hiddenWords(tree, thinned)}`;
}

function amountOf(tree, node, type) {
  const net = formatValue(tree.total[node], unitOf(type));
  return type.is_signed ? `${formatValue(tree.width[node], unitOf(type))} of movement, ${net} net` : net;
}

const all = ({ header }) => (header.root ? "it" : "all");

/** How much of a tree is not drawn, or that nothing is hidden. */
export function hiddenWords({ header }, thinned = "") {
  if (header.overview) return "Paths under a 2000th of it count as their callers' own.";
  if (!header.cut) return thinned || "Nothing is hidden.";
  return `${formatPlural(header.cut, "frame is", "frames are")} too narrow for callers to be seen; they are there when you zoom to one.`;
}
