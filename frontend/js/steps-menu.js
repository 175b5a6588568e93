// The menu of steps that change a whole graph: only own code, by the project's presets or an expression, and what merges frames.
import { element } from "./dom.js";
import { compilePattern } from "./search.js";

/** Binds the menu; `add(step)` takes a step of transforms.js. */
export function bindSteps(menu, { add }) {
  const presets = menu.querySelector("[data-part=presets]");
  const form = menu.querySelector("form");
  const { pattern } = form.elements;

  function take(step) {
    menu.open = false;
    add(step);
  }

  // A step has to mean what was typed: an expression that is none is refused, where a search takes it as text.
  pattern.addEventListener("input", () => pattern.setCustomValidity(compilePattern(pattern.value).hint));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    take({ kind: "only-code", pattern: pattern.value, title: "" });
  });
  for (const button of menu.querySelectorAll("[data-step]"))
    button.addEventListener("click", () => take({ kind: button.dataset.step }));

  menu.querySelector("[data-part=keep]").addEventListener("click", () => (menu.open = false));

  return {
    /** Offers presets {title, pattern}. */
    offer(known) {
      presets.replaceChildren(
        ...known.map(({ title, pattern }) => {
          const button = element("button", { type: "button", title: pattern }, `Only ${title}`);
          button.addEventListener("click", () => take({ kind: "only-code", pattern, title }));
          return button;
        }),
      );
    },
    /** A step that can be taken once only is off while it is among the transforms. */
    show(transforms) {
      for (const button of menu.querySelectorAll("[data-step]"))
        button.disabled = transforms.some(({ kind }) => kind === button.dataset.step);
    },
  };
}
