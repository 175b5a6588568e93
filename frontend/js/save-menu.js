// The menu that saves exactly what is seen: as SVG, as PNG, as this page in one file.
import { pngOf, svgOf } from "./graph-image.js";

/** Binds the buttons of `menu`; `picture()` is of graph-screen.js, `head()` gives the two lines of words above it, `name()` the file's name, `page()` {url, fragment} of the page in one file; `fail(words)` says why there is none. */
export function bindSaving(menu, { picture, head, name, page, fail }) {
  const savers = {
    svg: async () => new Blob([svgOf(picture(), head())], { type: "image/svg+xml" }),
    html: () => pageAsSeen(page()),
    png: () => pngOf(picture(), Math.max(1, devicePixelRatio || 1)),
  };
  for (const button of menu.querySelectorAll("[data-save]"))
    button.addEventListener("click", async () => {
      const kind = button.dataset.save;
      menu.open = false;
      try {
        download(await savers[kind](), `${name()}.${kind}`);
      } catch (error) {
        fail(error.message);
      }
    });
}

const OPENS_AT = /(<meta name="opens-at" content=")[^"]*/;

// The site never learns what is looked at: the fragment is written into the file here.
async function pageAsSeen({ url, fragment }) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The site answered ${response.status} when asked for the page in one file.`);
  const attribute = fragment.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return new Blob([(await response.text()).replace(OPENS_AT, (_, meta) => meta + attribute)], { type: "text/html" });
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name.replace(/[^\w.-]+/g, "-").slice(0, 120);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
