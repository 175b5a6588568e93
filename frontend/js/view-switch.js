// The switch of views, and which function a sandwich begins with when none is selected.

/** Binds the radios of `group`; `choose(view)` is called for a choice. */
export function bindViews(group, { choose }) {
  let widest = "";
  for (const radio of group.querySelectorAll("input"))
    radio.addEventListener("change", () => {
      if (radio.checked) choose(radio.value);
    });
  return {
    show({ view }) {
      for (const radio of group.querySelectorAll("input")) radio.checked = radio.value === view;
    },
    /** The function that holds most, of the rows of the table. */
    setWidest(rows) {
      widest = rows.reduce((most, row) => (row.self > (most?.self ?? -Infinity) ? row : most), null)?.name ?? "";
    },
    widest: () => widest,
  };
}
