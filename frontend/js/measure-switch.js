// The switches of a difference: what a frame is as wide as, in which numbers both sides are, and one graph or two.
import { element, setText } from "./dom.js";
import { SCALES } from "./measure.js";
import { WIDTHS } from "./side-widths.js";

/** Binds the parts width, scale, beside (a box to tick) and reason; `choose({width} or {scale} or {isBeside})` is called for a choice. */
export function bindMeasures({ width, scale, beside, reason }, { choose }) {
  fill(width, WIDTHS);
  fill(scale, SCALES);
  width.addEventListener("change", () => choose({ width: width.value }));
  scale.addEventListener("change", () => choose({ scale: scale.value }));
  beside.addEventListener("change", () => choose({ isBeside: beside.checked }));
  return {
    /** `why` says why numbers by the hour are not offered, "" when they are. */
    show(measure, why) {
      const isTimed = why === "";
      scale.querySelector("option[value=hour]").disabled = !isTimed;
      width.value = measure.width;
      scale.value = measure.scale === "hour" && !isTimed ? "counted" : measure.scale;
      beside.checked = measure.isBeside;
      width.disabled = measure.isBeside;
      setText(reason, why);
    },
  };
}

function fill(select, choices) {
  select.replaceChildren(...Object.entries(choices).map(([value, { title }]) => element("option", { value }, title)));
}
