// Keeps the links of a page's download menu at what the page shows: its snapshot, its value type, its view.
import { part } from "./dom.js";
import { fileAddress } from "./file-address.js";

/** `shown()` is as file-address.js has it. A saved page has no menu. */
export function bindDownloads(root, shown) {
  const menu = part(root, "downloads");
  menu?.addEventListener("toggle", () => {
    if (!menu.open) return;
    for (const link of menu.querySelectorAll("[data-form]"))
      link.href = fileAddress(menu.dataset.export, link.dataset.form, shown());
  });
}
