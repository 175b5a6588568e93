// How complete the capture of the chosen snapshot was; while the site has not told it, that and no other snapshot's words.
import { captureLoader, keyOf } from "./captures.js";
import { showQuality, showWords } from "./quality-strip.js";

/** Binds the parts strip, details and warnings; `told()` is called when a capture came that was waited for. */
export function bindCaptureStrip(parts, runUrl, { told }) {
  const captures = captureLoader(runUrl);
  let awaited = "";

  function waitFor(snapshot, key) {
    if (awaited !== key) showWords(parts, `Loading the capture of snapshot ${snapshot.seq}…`);
    awaited = key;
    captures.load(snapshot).then((isTold) => {
      if (awaited !== key) return;
      if (isTold) told();
      else showWords(parts, `The site did not tell the capture of snapshot ${snapshot.seq}.`);
    });
  }

  return {
    /** `run` with `isActive`, as quality.js takes it. */
    show(snapshot, run) {
      const whole = captures.of(snapshot);
      if (whole?.is_brief) return waitFor(whole, keyOf(whole));
      awaited = "";
      showQuality(parts, whole, run, "");
    },
  };
}
