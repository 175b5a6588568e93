// The switch between value types: radios with each one's total, which the run and the compare page share.
import { element, setText } from "./dom.js";
import { titleOf } from "./format.js";

/** Shows the types, `chosen` by name; `totalOf(type)` gives the text beside each, `choose(name)` is called for another. */
export function showTypes(group, types, { chosen, totalOf, choose }) {
  const key = types.map(({ name }) => name).join(" ");
  if (group.dataset.shown !== key) {
    group.dataset.shown = key;
    group.replaceChildren(...types.map(({ name }) => choice(name, choose)));
  }
  types.forEach((type, i) => {
    const [radio, , total] = group.children[i].childNodes;
    radio.checked = type.name === chosen;
    setText(total, totalOf(type));
  });
}

function choice(name, choose) {
  const radio = element("input", { type: "radio", name: "value-type", value: name });
  radio.addEventListener("change", () => choose(name));
  return element("label", {}, radio, `${titleOf(name)} `, element("span", { class: "v" }));
}
