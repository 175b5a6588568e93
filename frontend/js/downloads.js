// Keeps the links of a page's download menu at what the page shows, and at what is ticked in the menu.
import { part } from "./dom.js";
import { fileAddress } from "./file-address.js";

/** `shown()` is as file-address.js has it. A saved page has no menu. */
export function bindDownloads(root, shown) {
  const menu = part(root, "downloads");
  const normalize = menu && part(menu, "normalize"); // of a difference

  function fill() {
    const wanted = { ...shown(), isNormalized: normalize?.checked };
    for (const link of menu.querySelectorAll("[data-form]"))
      link.href = fileAddress(menu.dataset.export, link.dataset.form, wanted);
  }

  menu?.addEventListener("toggle", () => menu.open && fill());
  normalize?.addEventListener("change", fill);
}
