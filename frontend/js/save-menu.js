// The menu that saves exactly what is seen: as SVG, as PNG.
import { pngOf, svgOf } from "./graph-image.js";

/** Binds the buttons of `menu`; `picture()` is of graph-screen.js, `head()` gives the two lines of words above it, `name()` the file's name. */
export function bindSaving(menu, { picture, head, name }) {
  const savers = {
    svg: async () => new Blob([svgOf(picture(), head())], { type: "image/svg+xml" }),
    png: () => pngOf(picture(), Math.max(1, devicePixelRatio || 1)),
  };
  for (const button of menu.querySelectorAll("[data-save]"))
    button.addEventListener("click", async () => {
      const kind = button.dataset.save;
      download(await savers[kind](), `${name()}.${kind}`);
      menu.open = false;
    });
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name.replace(/[^\w.-]+/g, "-").slice(0, 120);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
