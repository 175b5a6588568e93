// Marks the moment when a peer's graph has been seen: a double animation frame behind the first in which it is there.

/** `isThere()` says whether the graph was drawn. */
export function drawn(isThere) {
  requestAnimationFrame(() => {
    if (!isThere()) return drawn(isThere);
    requestAnimationFrame(() => requestAnimationFrame(seen));
  });
}

// As our page does.
function seen() {
  performance.mark("viewer-ready");
  document.documentElement.dataset.viewer = "ready";
}
