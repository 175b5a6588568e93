// What of a page can wait until its first graph was seen.
import { afterSeen } from "./dom.js";

/** `later(act)` acts once `later.open()` was called and what was drawn then was seen; after that at once. */
export function afterGraph() {
  let waiting = []; // null once it is open

  function later(act) {
    if (waiting) waiting.push(act);
    else act();
  }

  function empty() {
    const acts = waiting ?? [];
    waiting = null;
    for (const act of acts) act();
  }

  later.open = () => {
    if (waiting === null) return;
    afterSeen(empty);
    setTimeout(empty, HIDDEN_MS);
  };
  return later;
}

const HIDDEN_MS = 1000; // a page that nobody sees has no frames
