// The theme that was chosen in the menu: shown at once, and told to the site, whose pages then come in it.

const COOKIE = "memflame_theme"; // as in webapp/context.py
const YEAR_S = 365 * 24 * 3600;

/** Makes buttons with data-set-theme ("light", "dark" or "" for the system's) choose. */
export function bindTheme(root) {
  root.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-set-theme]");
    if (!button) return;
    apply(root.documentElement, button.dataset.setTheme);
    button.closest("details")?.removeAttribute("open");
  });
}

function apply(host, theme) {
  if (theme) host.dataset.theme = theme;
  else delete host.dataset.theme;
  // A page saved as a file has no site to tell, and no cookies.
  if (location.protocol !== "file:")
    document.cookie = `${COOKIE}=${theme}; path=/; max-age=${theme ? YEAR_S : 0}; samesite=lax`;
}
