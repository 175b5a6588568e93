// The legend of a difference: how much is new, gone, grown, shrunk, the same or both inside; each entry keeps only that, by a step.
import { setText } from "./dom.js";
import { formatChange, formatPlural } from "./format.js";

/** Binds the buttons below `legend` that have data-change; `choose(what)` is called for one. */
export function bindChangeLegend(legend, { choose }) {
  const buttons = [...legend.querySelectorAll("button[data-change]")];
  for (const button of buttons) button.addEventListener("click", () => choose(button.dataset.change));
  return {
    /** `kinds` as change-kinds.js adds them up, `chosen` those that the graph is reduced to. */
    show(kinds, unit, chosen) {
      for (const button of buttons) {
        const what = button.dataset.change;
        setText(button.querySelector("b"), amountsOf(what, kinds[what], unit));
        button.setAttribute("aria-pressed", chosen.includes(what));
        button.disabled = kinds[what].count === 0 && !chosen.includes(what);
      }
    },
  };
}

/** "12 paths, +3.0 MB". */
export function amountsOf(what, { count, change, grew, shrank }, unit) {
  const paths = formatPlural(count, "path", "paths");
  if (count === 0 || what === "same") return paths;
  if (what === "mixed") return `${paths}, ${formatChange(grew, unit)} and ${formatChange(-shrank, unit)}`;
  return `${paths}, ${formatChange(change, unit)}`;
}
