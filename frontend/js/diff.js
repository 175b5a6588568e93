// Says what changed between two sides: of a frame, of the whole tree, and in one sentence a person can read aloud.
import { HAS_BOTH_SIDES, changeSums } from "./change-kinds.js";
import { self2Of, selfOf } from "./layout.js";
import { formatChange, formatPlural, formatValue, formatWholePercent } from "./format.js";
import { arrangeRows } from "./top-table.js";

export const changeOf = (tree, node) => tree.total2[node] - tree.total[node];

/** "new", "gone" or "": is the frame on one side only? A frame of no width is neither. */
export function sideOf(tree, node) {
  if (HAS_BOTH_SIDES.includes(tree.header.only)) return "";
  const [before, after] = [tree.total[node], tree.total2[node]];
  if (before === 0 && after !== 0) return "new";
  if (after === 0 && before !== 0) return "gone";
  return "";
}

/** What grew and what shrank below each node, taken path by path: {grew, shrank}, both positive. */
export function movements(tree) {
  const grew = new Float64Array(tree.n);
  const shrank = new Float64Array(tree.n);
  for (let i = tree.n - 1; i >= 0; i--) {
    const change = self2Of(tree, i) - selfOf(tree, i);
    if (change > 0) grew[i] += change;
    else shrank[i] -= change;
    if (i > 0) {
      grew[tree.parent[i]] += grew[i];
      shrank[tree.parent[i]] += shrank[i];
    }
  }
  return { grew, shrank };
}

/**
 * What changed in columns with parents: {totals, kinds, moved, first}; `rows` are their functions, `first` {name, selfChange} the
 * one that changed most in the direction of the whole.
 */
export function changesOf(stacks, rows) {
  const totals = [stacks.self, stacks.self2].map((column) => column.reduce((sum, value) => sum + value, 0));
  const sort = netOf(totals) < 0 ? "selfChange" : "-selfChange";
  const first = arrangeRows(rows, { sort })[0];
  return {
    totals,
    kinds: changeSums(stacks),
    moved: movedOf(stacks),
    first: first && { name: first.name, selfChange: first.selfChange },
  };
}

// The shares of a side add up to 1 but for rounding: as a whole they neither grow nor shrink.
function netOf([before, after]) {
  const net = after - before;
  return Math.abs(net) > 1e-12 * Math.max(Math.abs(before), Math.abs(after)) ? net : 0;
}

function movedOf({ n, self, self2 }) {
  const moved = { grew: 0, shrank: 0 };
  for (let i = 0; i < n; i++) {
    const change = self2[i] - self[i];
    if (change > 0) moved.grew += change;
    else moved.shrank -= change;
  }
  return moved;
}

/** Pieces {text, kind} of the finding; kind is "", "code", "grew" or "shrank". */
export function finding({ totals, kinds, first }, unit) {
  if (!first || first.selfChange === 0) return [piece(nothingChanged(totals, unit))];
  return [...mainChange(first, netOf(totals), unit), ...otherPaths(kinds, unit), piece(".")];
}

function nothingChanged([before], unit) {
  if (unit === "share") return "Nothing changed: each function has the same share of its side.";
  return `Nothing changed: both sides hold ${formatValue(before, unit)}.`;
}

const piece = (text, kind = "") => ({ text, kind });

function mainChange({ name, selfChange }, net, unit) {
  const isGrowth = selfChange > 0;
  const share =
    Math.sign(net) === Math.sign(selfChange)
      ? `, ${formatWholePercent(selfChange / net)} of the ${isGrowth ? "growth" : "decrease"}`
      : "";
  return [
    piece(name, "code"),
    piece(" holds "),
    piece(amountOf(Math.abs(selfChange), unit), isGrowth ? "grew" : "shrank"),
    piece(` ${isGrowth ? "more" : "less"} ${unit === "share" ? "of its side " : ""}than before${share}`),
  ];
}

const amountOf = (value, unit) => formatChange(value, unit).replace("+", "");

function otherPaths({ new: fresh, gone }, unit) {
  const parts = [];
  if (fresh.count)
    parts.push(`${formatPlural(fresh.count, "path is", "paths are")} new (${formatChange(fresh.change, unit)})`);
  if (gone.count)
    parts.push(
      `${parts.length ? `${gone.count} ${gone.count === 1 ? "is" : "are"}` : formatPlural(gone.count, "path is", "paths are")} gone (${formatChange(gone.change, unit)})`,
    );
  return parts.length ? [piece(`; ${parts.join(", ")}`)] : [];
}
