// Small things of all pages: ids that copy themselves, times that stay true, and menus that close.
import { copyOnClick } from "./copy.js";
import { closeMenus, walkMenu } from "./menus.js";
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

document.addEventListener("click", (event) => closeMenus(event.target));
document.addEventListener("keydown", (event) => (event.key === "Escape" ? closeMenus() : walkMenu(event)));
