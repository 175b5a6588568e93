// Runs before the first paint: takes over the theme that was chosen here, and lets the menu choose another.
"use strict";
(() => {
  const key = "memflame-theme";
  const root = document.documentElement;

  function apply(theme) {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
  }

  // Storage throws where it is forbidden; the page then follows the system.
  function stored(change) {
    try {
      return change(localStorage);
    } catch {
      return null;
    }
  }

  apply(stored((storage) => storage.getItem(key)));
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-set-theme]");
    if (!button) return;
    apply(button.dataset.setTheme);
    stored((storage) => storage.setItem(key, button.dataset.setTheme));
    button.closest("details")?.removeAttribute("open");
  });
})();
