// The list of runs: the Compare button waits for two ticks and says how many are missing. The form works without this.

const form = document.querySelector("form:has(#rows)");

// Rows are replaced while a run is active, so nothing of them is kept here.
function showTicks() {
  const ticked = form.querySelectorAll("[name=run]:checked").length;
  const button = form.querySelector("button[type=submit]");
  button.disabled = ticked !== 2;
  form.querySelector("[data-part=ticks]").textContent =
    ["Tick two runs", "Tick one more", ""][ticked] ?? `${ticked} runs are ticked, two can be compared`;
}

if (form) {
  form.addEventListener("change", showTicks);
  document.addEventListener("htmx:afterSettle", showTicks);
  showTicks();
}
