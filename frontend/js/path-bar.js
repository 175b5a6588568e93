// The line above the graph: the way from all to the zoomed frame, the steps taken, what is folded, and what 100 % is.
import { element, icon } from "./dom.js";
import { ancestorsOf } from "./frame-path.js";
import { nameOf } from "./layout.js";
import { KINDS } from "./transforms.js";

const MAX_STEPS = 4; // frames shown at the end of a long way

/**
 * Fills the bar. `go(node)` zooms, `toggle()` folds allocator frames or shows them, `remove(at)` takes a transform back.
 */
export function showPath(bar, { tree, focus, base, folded, keepsAllocators, transforms }, { go, toggle, remove }) {
  const way = ancestorsOf(tree, focus);
  const steps = way.length > MAX_STEPS + 1 ? [way[0], null, ...way.slice(-MAX_STEPS)] : way;
  const links = steps.flatMap((node, i) => [
    i > 0 ? icon("i-next") : null,
    node === null ? element("span", {}, "…") : step(tree, node, focus, go),
  ]);
  bar.replaceChildren(
    ...links.filter(Boolean),
    ...transforms.map((transform, at) => switcher("chip on", wordsOf(transform), "Take this step back", () => remove(at))),
    ...chips(folded, keepsAllocators, toggle),
    element("span", { class: "base" }, base),
  );
}

function step(tree, node, focus, go) {
  const name = node === 0 && !tree.header.root ? "All" : nameOf(tree, node);
  const link = element(
    "button",
    { type: "button", class: "step", title: node === 0 ? null : name, "aria-current": node === focus ? "true" : null },
    name,
  );
  link.addEventListener("click", () => go(node));
  return link;
}

function chips(folded, keepsAllocators, toggle) {
  if (keepsAllocators) return [switcher("chip", "allocator frames are shown", "Count them as their callers'", toggle)];
  if (!folded.length) return [];
  const rest = folded.length > 2 ? `, +${folded.length - 2}` : "";
  return [
    switcher(
      "chip on",
      `counted as their callers': ${folded.slice(0, 2).join(", ")}${rest}`,
      "Show allocator frames",
      toggle,
    ),
  ];
}

const wordsOf = (transform) => KINDS[transform.kind].words(transform);

function switcher(kind, text, action, toggle) {
  const button = element("button", { type: "button", "aria-label": action, title: action }, icon("i-x"));
  button.addEventListener("click", toggle);
  return element("span", { class: kind }, element("span", { class: "cut" }, text), button);
}
