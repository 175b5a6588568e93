// Shows how complete a capture was: the strip below the graph, the banner above it, and the lines that were skipped.
import { element, icon, note } from "./dom.js";
import { formatCount } from "./format.js";
import { captureQuality, skippedLines } from "./quality.js";

const ICONS = { ok: "i-ok", weak: "i-warn", bad: "i-warn", unknown: "i-info" };
const CLASSES = { ok: "", weak: "st weak", bad: "st failed", unknown: "" };

/** Fills the strip, its details and the warnings for a snapshot of a run. */
export function showQuality({ strip, details, warnings }, snapshot, run, heard) {
  const quality = captureQuality(snapshot, run);
  const [before, word] = quality.words;
  const first = element(
    "span",
    { class: CLASSES[quality.level] || null },
    icon(ICONS[quality.level]),
    ` ${before} `,
    element("b", {}, word),
  );
  strip.replaceChildren(first, ...quality.figures.map(figure), ...(heard ? [element("span", {}, heard)] : []));
  details.hidden = quality.notes.length === 0;
  details.querySelector("ul").replaceChildren(...quality.notes.map((text) => element("li", {}, text)));
  warnings.replaceChildren(...[banner(quality.banner), skipped(skippedLines(snapshot))].filter(Boolean));
  warnings.ariaBusy = null;
}

/** Instead of a quality that is not known yet: warnings of another snapshot keep their place and are dimmed. */
export function showWords({ strip, details, warnings }, words) {
  strip.replaceChildren(element("span", {}, words));
  details.hidden = true;
  warnings.ariaBusy = "true";
}

function figure([label, number, rest]) {
  return element(
    "span",
    {},
    label ? `${label} ` : "",
    number ? element("b", {}, number) : null,
    number ? ` ${rest}` : rest,
  );
}

const banner = (words) => (words ? note(words.level, "i-warn", words.title, words.text) : null);

function skipped(warning) {
  if (!warning) return null;
  const lines = warning.lines
    .map(({ number, text, reason }) => `${formatCount(number)}  ${text}\n    ${reason}`)
    .join("\n");
  return note("warn", "i-warn", warning.title, warning.text, element("pre", { tabindex: 0 }, lines));
}
