// Keeps the links of a page's download menu at what the page shows: its snapshot, its value type, its view.
import { part } from "./dom.js";
import { filled } from "./run-view.js";

/** `shown()` is {seq, value_type, view}; what is empty is left to the site. A saved page has no menu. */
export function bindDownloads(root, shown) {
  const menu = part(root, "downloads");
  menu?.addEventListener("toggle", () => {
    if (!menu.open) return;
    const { seq, ...choice } = shown();
    const query = new URLSearchParams(Object.entries(choice).filter(([, value]) => value));
    for (const link of menu.querySelectorAll("[data-form]"))
      link.href = `${filled(menu.dataset.export, { seq, form: link.dataset.form })}?${query}`;
  });
}
