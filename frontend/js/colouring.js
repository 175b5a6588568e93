// Colours the graphs of a page as chosen; ages are fetched when they are first asked for.
import { agesOf } from "./ages.js";
import { bindColours } from "./colour-switch.js";
import { part } from "./dom.js";

/** `graphs()` are those to colour, `along(urls, wanted, signal)` gives totals of other payloads by node of the first. */
export function bindColouring(root, { choose, graphs, along }) {
  const colours = bindColours(
    { select: part(root, "colour"), slider: part(root, "youngest"), legend: part(root, "legend-colours") },
    { choose },
  );
  const known = { ages: null, of: null }; // the ages of what was drawn

  async function agesFor({ drawn, bands, wanted }) {
    if (known.of !== drawn) {
      const totals = await along(bands.map(({ url }) => url), wanted);
      Object.assign(known, { ages: agesOf(totals), of: drawn });
    }
    return known.ages;
  }

  return {
    /** Offers the modes that the tree can have. */
    offer(tree, bands) {
      const modes = tree.total2 ? ["change", "memory", "module"] : ["memory", "warm", "module", ...bands.slice(0, 1).map(() => "age")];
      colours.offer(modes, bands.map(({ label }) => label));
    },
    /** `shown` has what is drawn: {drawn, bands, isWhole, wanted}. */
    async apply({ mode, youngest }, shown) {
      const chosen = modeFor(mode, shown);
      colours.show({ mode: chosen, youngest });
      const ages = chosen === "age" && shown.isWhole ? await agesFor(shown) : null;
      const [graph, ...others] = graphs();
      graph.setColour({ mode: chosen, ages, youngest });
      for (const other of others) other.setColour({ mode: chosen, ages: null, youngest: 0 });
    },
  };
}

/** The mode that can be drawn: of a difference its change, ages only where the run has them. */
function modeFor(mode, { drawn, bands }) {
  const isDiff = Boolean(drawn.tree.total2);
  const isThere = { age: bands.length > 0 && !isDiff, change: isDiff, warm: !isDiff }[mode] ?? mode !== "";
  return isThere ? mode : isDiff ? "change" : "memory";
}
