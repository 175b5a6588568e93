// Asks for what a flow was between two snapshots of a run, and says what of it needs words.
import { formatPlural, formatValue } from "./format.js";
import { filled, unitOf } from "./run-view.js";

/** {total, is_signed, negative, urls} of the interval, or an error in the site's words. */
export async function fetchInterval(runUrl, { since, seq }, type) {
  const response = await fetch(`${runUrl}/intervals/${since}/${seq}?value_type=${encodeURIComponent(type.name)}`);
  const answer = await response.json().catch(() => ({}));
  if (!response.ok)
    throw new Error(
      answer.error ?? `The site answered ${response.status} when asked for the interval. Reload the page.`,
    );
  const fill = (stage) => filled(answer.payload_url, { value_type: type.name, tag: answer.tag, stage });
  return { ...answer, urls: { overview: fill("overview"), full: fill("full") } };
}

/** What estimates leave below zero, which is drawn and counted. */
export function leftoverWords({ negative: [frames, amount] }, type) {
  if (!frames) return "";
  return `${formatPlural(frames, "frame is", "frames are")} below zero, ${formatValue(amount, unitOf(type))} in all: the later snapshot has less of them than the earlier, as estimates may. They are hatched, and the total is exact.`;
}

/** How the compare page names a choice: a snapshot, or what was counted after one until another. */
export const choiceRef = (run, { since, seq }) => `${run.run}@${since ? `${since}..` : ""}${seq}`;
