// The switch between value types: radios with each one's total, which the run and the compare page share.
import { splitByAge } from "./age-bands.js";
import { element, setText } from "./dom.js";
import { titleOf } from "./format.js";

/** Shows the types, `chosen` by name; `totalOf(type)` gives the text beside each, `choose(name)` is called for another. */
export function showTypes(group, types, { chosen, totalOf, choose }) {
  const key = types.map(({ name }) => name).join(" ");
  if (group.dataset.shown !== key) {
    group.dataset.shown = key;
    group.replaceChildren(...rows(splitByAge(types), choose));
  }
  const typeByName = new Map(types.map((type) => [type.name, type]));
  for (const radio of group.querySelectorAll("input")) {
    radio.checked = radio.value === chosen;
    setText(radio.parentNode.querySelector(".v"), totalOf(typeByName.get(radio.value)));
  }
}

/** Bands of age stand in a row of their own: they are parts of one of the types, not more of them. */
function rows({ whole, bands, of }, choose) {
  const first = element(
    "div",
    { class: "seg grow" },
    whole.map(({ name }) => choice(name, titleOf(name), choose)),
  );
  if (!bands.length) return [first];
  const choices = bands.map(({ type, label }) => choice(type.name, label, choose));
  return [
    first,
    element(
      "div",
      { class: "ages", role: "group", "aria-label": `${of} by age` },
      element("span", { class: "lab" }, `${of} by age`),
      element("div", { class: "seg grow" }, choices),
    ),
  ];
}

function choice(name, words, choose) {
  const radio = element("input", { type: "radio", name: "value-type", value: name });
  radio.addEventListener("change", () => choose(name));
  return element("label", {}, radio, `${words} `, element("span", { class: "v" }));
}
