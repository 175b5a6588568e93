// Small things of all pages: ids that copy themselves, times that stay true, menus that close, the theme.
import { copyOnClick } from "./copy.js";
import { closeMenus, walkMenu } from "./menus.js";
import { bindTheme } from "./theme.js";
import { formatAge } from "./time-ago.js";

const TICK_MS = 10_000;

for (const button of document.querySelectorAll("[data-copy]")) copyOnClick(button, () => button.dataset.copy);

function showTimes() {
  for (const time of document.querySelectorAll("time[datetime]")) {
    if (!time.textContent.endsWith("ago")) continue;
    time.textContent = formatAge((Date.now() - Date.parse(time.dateTime)) / 1000);
  }
}

setInterval(showTimes, TICK_MS);
bindTheme(document);

document.addEventListener("click", (event) => closeMenus(event.target));
document.addEventListener("keydown", (event) => (event.key === "Escape" ? closeMenus() : walkMenu(event)));
