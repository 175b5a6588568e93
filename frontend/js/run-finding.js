// Says in one sentence what holds the memory of a run, or did most of what was counted.
import { formatPlural, formatValue, formatWholePercent } from "./format.js";

/**
 * Pieces {text, kind} of the finding; kind is "" or "code". `rows` are the functions of the tree, `growth` {change, words} of the
 * total since an earlier snapshot, or null.
 */
export function runFinding(tree, rows, { unit, kind, growth = null }) {
  const first = rows.reduce((most, row) => (Math.abs(row.self) > Math.abs(most?.self ?? 0) ? row : most), null);
  if (!first || !tree.width[0]) return [];
  const holds = kind === "level" ? " holds " : " accounts for ";
  const share = formatWholePercent(Math.abs(first.self) / tree.width[0]);
  const paths = first.frames > 1 ? `, on ${formatPlural(first.frames, "path", "paths")}` : "";
  const grew =
    growth && growth.change
      ? `; the whole ${growth.change > 0 ? "grew" : "shrank"} by ${formatValue(Math.abs(growth.change), unit)} ${growth.words}`
      : "";
  return [
    { text: first.name, kind: "code" },
    { text: `${holds}${formatValue(first.self, unit)} itself, ${share} of all${paths}${grew}.`, kind: "" },
  ];
}
