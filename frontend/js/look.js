// Tells when pages are to look otherwise: another theme, more contrast, the system's colours, a screen of another scale.

const LOOKS = ["(prefers-color-scheme: dark)", "(prefers-contrast: more)", "(forced-colors: active)"];

/** Calls `act` at each such change. */
export function watchLook(act) {
  for (const look of LOOKS) matchMedia(look).addEventListener("change", act);
  new MutationObserver(act).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  watchScale(act);
}

// A scale has no event of its own; that it is no longer the one that it was has.
function watchScale(act) {
  const changed = () => (act(), watchScale(act));
  matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener("change", changed, { once: true });
}
