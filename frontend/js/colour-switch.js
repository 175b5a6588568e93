// The choice of colours: a list of modes, a slider that fades young bytes where ages are known, and the legend's words.
import { COLOURS } from "./colours.js";
import { element, setText } from "./dom.js";

/** Binds the parts select, slider (a label with a range and an output) and legend. `choose({mode, youngest})` is called for a choice. */
export function bindColours({ select, slider, legend }, { choose }) {
  const range = slider.querySelector("input");
  const output = slider.querySelector("output");
  let labels = [];

  const chosen = () => ({ mode: select.value, youngest: Number(range.value) });

  function drawLegend(mode) {
    const { token, steps, legend: words } = COLOURS[mode];
    if (!legend || !token) return;
    const ramp = Array.from({ length: steps }, (_, i) => element("i", { class: `swatch ${token}-${i + 1}` }));
    const ends = mode === "age" && labels.length ? [`${labels[0]} `, ...ramp, ` ${labels.at(-1)}: `] : [...ramp, " "];
    legend.replaceChildren(element("span", { class: "ramp-words" }, ...ends, words));
  }

  select.addEventListener("change", () => choose(chosen()));
  range.addEventListener("input", () => choose(chosen()));
  return {
    /** Offers modes; `bands` are the words for ages, the youngest first. */
    offer(modes, bands) {
      labels = bands;
      select.replaceChildren(...modes.map((mode) => element("option", { value: mode }, COLOURS[mode].title)));
      range.max = Math.max(0, bands.length - 1);
    },
    show({ mode, youngest }) {
      select.value = mode;
      range.value = youngest;
      slider.hidden = mode !== "age";
      setText(output, youngest > 0 ? `only ${labels.slice(youngest).join(", ")}` : "all ages");
      drawLegend(mode);
    },
  };
}
