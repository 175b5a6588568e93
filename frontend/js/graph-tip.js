// The tooltip: name, then a grid of number and its base. It follows the pointer and never covers the frame.
import { element } from "./dom.js";

export function bindTip(tip) {
  return {
    hide: () => tip.classList.remove("on"),
    /** Shows name and facts [[label, value, base]] at a point of the box. */
    show(name, facts, point, box) {
      tip.replaceChildren(element("div", { class: "name" }, cut(name)), factsList(facts));
      tip.classList.add("on");
      place(tip, point, box);
    },
  };
}

const MAX_NAME = 600;

function cut(name) {
  const points = Array.from(name.slice(0, 2 * MAX_NAME));
  return points.length > MAX_NAME ? `${points.slice(0, MAX_NAME).join("")}…` : name;
}

function factsList(facts) {
  return element(
    "dl",
    {},
    facts.flatMap(([label, value, base]) => [
      element("dt", {}, label),
      element("dd", {}, value),
      element("dd", {}, base),
    ]),
  );
}

function place(tip, { x, y }, box) {
  const left = Math.max(0, Math.min(x + 12, box.width - tip.offsetWidth));
  const below = y + 20;
  const fits = box.top + below + tip.offsetHeight < innerHeight;
  tip.style.left = `${left}px`;
  tip.style.top = `${fits ? below : y - 16 - tip.offsetHeight}px`;
}
