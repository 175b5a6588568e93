// The rules of an alignment as text for an address, and its report in words.
import { encodeText } from "./address-text.js";
import { formatPlural, formatValue } from "./format.js";

/** "hashes;templates;~pattern~replacement"; "exact" for nothing, since an address without rules has those of the project. */
export function rulesText(rules, replacements) {
  const pairs = replacements.filter(([pattern]) => pattern).map((pair) => `~${pair.map(encodeText).join("~")}`);
  return [...rules, ...pairs].join(";") || "exact";
}

/** How many bytes of each side matched exactly, after the rules, and not at all. */
export function reportWords({ rules, names, exact, normalised, unmatched }, unit) {
  const both = (pair) => pair.map((value) => formatValue(value, unit)).join(" and ");
  const parts = [`before and after, ${both(exact)} matched exactly`];
  if (rules !== "exact")
    parts.push(`${both(normalised)} after rules that changed ${formatPlural(names, "name", "names")}`);
  return `${[...parts, `${both(unmatched)} not at all`].join(", ")}.`;
}

/** What rules would do: of names that are on one side only, how many then are on both. */
export function previewWords({ names, changed, only_before: before, only_after: after }) {
  const fewer = ([was, is]) => `${was} to ${is}`;
  return `${formatPlural(changed, "name", "names")} of ${names} would change. Names on one side only: before ${fewer(before)}, after ${fewer(after)}.`;
}
