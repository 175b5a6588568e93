// The second brush of a time line: put there, taken away, and the comparison that both brushes lead to.
import { setText } from "./dom.js";
import { choiceRef } from "./interval.js";
import { secondChoice, timelineOf } from "./timeline.js";
import { writeState } from "./url-state.js";

/** `put(choice)` is called with where B shall be, or null. A saved page has no button: there is nothing to compare with. */
export function bindSecond({ button, link }, put) {
  let next = null;
  button?.addEventListener("click", () => put(next));
  return {
    show(run, type, { a, b }) {
      if (!button) return;
      next = b ? null : secondChoice(timelineOf(run, type), a);
      button.hidden = !b && !next;
      setText(button, b ? "Take B away" : "Compare with another moment");
      link.hidden = !b || choiceRef(run, a) === choiceRef(run, b);
      if (!link.hidden) link.href = compareAddress(run, type, [a, b]);
    },
  };
}

/** The one that ends first is before. */
function compareAddress(run, type, choices) {
  const [before, after] = choices.toSorted((one, other) => one.seq - other.seq || one.since - other.since);
  return `/compare/${choiceRef(run, before)}/${choiceRef(run, after)}${writeState({ type: type.name })}`;
}
