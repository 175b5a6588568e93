// The line below the graph: the selected frame with its numbers, for keyboard and touch, and what can be done with it.
import { copyOnClick } from "./copy.js";
import { element } from "./dom.js";
import { frameMenu } from "./frame-menu.js";
import { pathOf } from "./frame-path.js";
import { nameOf } from "./layout.js";

/** Fills the line. `zoom()` goes to the frame, `link()` gives the address that shows it selected, `markdown()` the frame for a review, `actions` are its menu. */
export function showSelected(line, { tree, words, selected, focus }, { zoom, link, markdown, actions: entries }) {
  const facts = words.facts(selected, focus).map(fact);
  line.replaceChildren(
    element("span", { class: "code", title: nameOf(tree, selected) }, nameOf(tree, selected)),
    ...facts,
    actions(tree, selected, focus, { zoom, link, markdown, entries }),
  );
}

function fact([label, value, base]) {
  const kind = label === "change" ? (value.startsWith("+") ? "grew" : value.startsWith("\u2212") ? "shrank" : "") : "";
  return element(
    "span",
    {},
    `${label} `,
    element("b", kind ? { class: kind } : {}, value),
    base ? element("span", { class: "quiet" }, ` ${base}`) : null,
  );
}

function actions(tree, selected, focus, { zoom, link, markdown, entries }) {
  const focusing = element(
    "button",
    { type: "button", class: "btn plain", "data-part": "zoom", disabled: selected === focus },
    "Zoom",
  );
  focusing.addEventListener("click", zoom);
  const address = element(
    "button",
    { type: "button", class: "btn plain", "data-part": "copy-link" },
    "Copy link to frame",
  );
  copyOnClick(address, link);
  const stack = element(
    "button",
    { type: "button", class: "btn plain", "data-part": "copy-stack", disabled: selected === 0 },
    "Copy stack",
  );
  copyOnClick(stack, () => pathOf(tree, selected).join(";"));
  const review = element(
    "button",
    { type: "button", class: "btn plain", "data-part": "copy-markdown" },
    "Copy as Markdown",
  );
  copyOnClick(review, markdown);
  return element("span", { class: "acts" }, focusing, address, stack, review, frameMenu(entries));
}
