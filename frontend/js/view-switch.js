// The switch of views, and which function a sandwich begins with when none is selected.
import { setText } from "./dom.js";
import { VIEWS } from "./views.js";

/** Binds the radios of `group`; `reading` gets how a view is read; `also` is true of all; `choose(view)` is called for a choice. */
export function bindViews({ group, reading }, { choose, also = "" }) {
  let widest = "";
  for (const radio of group.querySelectorAll("input"))
    radio.addEventListener("change", () => {
      if (radio.checked) choose(radio.value);
    });
  return {
    show({ view }) {
      for (const radio of group.querySelectorAll("input")) radio.checked = radio.value === view;
      setText(reading, `${VIEWS[view].reading} ${also}`.trim());
    },
    /** The function that holds most, of the rows of the table. */
    setWidest(rows) {
      widest = rows.reduce((most, row) => (row.self > (most?.self ?? -Infinity) ? row : most), null)?.name ?? "";
    },
    widest: () => widest,
  };
}
