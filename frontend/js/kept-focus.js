// Keeps the keyboard's focus on the page when what had it is drawn anew, hidden or gone.

const NAMES = ["data-part", "data-action", "data-node", "data-sort"]; // what tells an element from its neighbours

/** Draws; the focus that was in `host` goes to what took its place there, or to where `otherwise()` puts it. */
export function keepingFocus(host, draw, otherwise = () => {}) {
  const held = host.contains(document.activeElement) ? document.activeElement : null;
  const successor = held && selectorOf(held);
  draw();
  if (!held || (held.isConnected && held.checkVisibility())) return;
  const heir = successor && host.querySelector(successor);
  if (heir?.checkVisibility() && !heir.disabled) heir.focus();
  else otherwise();
}

function selectorOf(element) {
  const name = NAMES.find((each) => element.hasAttribute(each));
  return name && `[${name}="${CSS.escape(element.getAttribute(name))}"]`;
}
