// Says in one sentence what holds the memory of a run, or did most of what was counted.
import { formatPlural, formatValue, formatWholePercent } from "./format.js";

/**
 * Pieces {text, kind} of the finding; kind is "" or "code". `rows` are the functions, `all` is what they hold together, `growth`
 * {change, words} of the total since an earlier snapshot, or null.
 */
export function runFinding(rows, { unit, kind, all, growth = null }) {
  const first = rows.reduce((most, row) => (Math.abs(row.self) > Math.abs(most?.self ?? 0) ? row : most), null);
  if (!first || !all) return [];
  const holds = kind === "level" ? " holds " : " accounts for ";
  const share = formatWholePercent(Math.abs(first.self) / all);
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
