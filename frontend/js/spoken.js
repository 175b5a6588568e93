// Tells a screen reader that another view is being made, and what it is when it is there.
import { setText } from "./dom.js";
import { formatPlural } from "./format.js";
import { VIEWS } from "./views.js";

/** Binds a live region. A graph that only grows, as while a run records, is not told again. */
export function bindSpoken(region) {
  let said = "";
  return {
    wait: () => setText(region, "The graph is being made."),
    /** `key` tells one view of a tree from another, `base` what 100 % is. */
    say(key, view, tree, base) {
      const now = JSON.stringify([key, view]);
      if (now === said) return;
      said = now;
      setText(region, `${VIEWS[view].title}: ${formatPlural(tree.n, "frame", "frames")}. ${base}`);
    },
  };
}
