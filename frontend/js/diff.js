// Says what changed between two sides: of a frame, of the whole tree, and in one sentence a person can read aloud.
import { self2Of, selfOf } from "./layout.js";
import { formatChange, formatPlural, formatValue, formatWholePercent } from "./format.js";
import { arrangeRows } from "./top-table.js";

export const changeOf = (tree, node) => tree.total2[node] - tree.total[node];

/** "new", "gone" or "": is the frame on one side only? A frame of no width is neither. */
export function sideOf(tree, node) {
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

/** Paths that are on one side only, counted at their uppermost frame: {count, change}. */
export function pathsOf(tree, side) {
  const paths = { count: 0, change: 0 };
  for (let i = 1; i < tree.n; i++) {
    if (sideOf(tree, i) !== side || (tree.parent[i] > 0 && sideOf(tree, tree.parent[i]) === side)) continue;
    paths.count++;
    paths.change += changeOf(tree, i);
  }
  return paths;
}

/** Pieces {text, kind} of the finding; kind is "", "code", "grew" or "shrank". */
export function finding(tree, rows, unit) {
  const net = changeOf(tree, 0);
  const first = arrangeRows(rows, { sort: net < 0 ? "selfChange" : "-selfChange" })[0];
  if (!first || first.selfChange === 0)
    return [piece(`Nothing changed: both sides hold ${formatValue(tree.total[0], unit)}.`)];
  return [...mainChange(first, net, unit), ...otherPaths(tree, unit), piece(".")];
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
    piece(formatValue(Math.abs(selfChange), unit), isGrowth ? "grew" : "shrank"),
    piece(` ${isGrowth ? "more" : "less"} than before${share}`),
  ];
}

function otherPaths(tree, unit) {
  const fresh = pathsOf(tree, "new");
  const gone = pathsOf(tree, "gone");
  const parts = [];
  if (fresh.count)
    parts.push(`${formatPlural(fresh.count, "path is", "paths are")} new (${formatChange(fresh.change, unit)})`);
  if (gone.count)
    parts.push(
      `${parts.length ? `${gone.count} ${gone.count === 1 ? "is" : "are"}` : formatPlural(gone.count, "path is", "paths are")} gone (${formatChange(gone.change, unit)})`,
    );
  return parts.length ? [piece(`; ${parts.join(", ")}`)] : [];
}
