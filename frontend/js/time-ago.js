// Turns how long ago something was into words; apart from format.js, so that pages without a graph load no d3.

const NBSP = "\u00a0";

/** Seconds since then as one unit: "2 min ago". */
export function formatAge(seconds) {
  const past = Math.max(0, seconds);
  const [size, word] =
    past < 60 ? [1, "s"] : past < 3600 ? [60, "min"] : past < 172_800 ? [3600, "h"] : [86_400, "days"];
  return `${Math.floor(past / size)}${NBSP}${word}${NBSP}ago`;
}
