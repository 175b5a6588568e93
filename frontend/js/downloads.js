// Keeps the links of a page's download menu at what the page shows: its snapshot, its value type, its view.
import { part } from "./dom.js";
import { filled } from "./run-view.js";

/** `shown()` is {seq, value_type, view}. A saved page has no menu. */
export function bindDownloads(root, shown) {
  const menu = part(root, "downloads");
  menu?.addEventListener("toggle", () => {
    if (!menu.open) return;
    const { seq, value_type, view } = shown();
    // A file has the frames as they were called: of the views only where the root stands is its own.
    const query = new URLSearchParams({ value_type, view: view === "flame" ? "flame" : "icicle" });
    for (const link of menu.querySelectorAll("[data-form]"))
      link.href = `${filled(menu.dataset.export, { seq, form: link.dataset.form })}?${query}`;
  });
}
