// Serves a page that was saved as one file: what its scripts would fetch, and their Worker, are in the file itself.
const { answers, worker } = JSON.parse(document.getElementById("offline").textContent);

window.fetch = async (address) => {
  const answer = answers[address] ?? answers[String(address).split("?")[0]]; // what a file has one of it gives to any query
  if (!answer) throw new Error("This file does not hold that. Open the page on the site.");
  return "json" in answer ? new Response(JSON.stringify(answer.json)) : new Response(inflated(answer.gzip));
};

function inflated(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
}

for (const figure of document.querySelectorAll("[data-worker]"))
  figure.dataset.worker = URL.createObjectURL(new Blob([worker], { type: "text/javascript" }));

// The bundled Worker is a classic script, which browsers start from disk; they refuse modules there.
window.Worker = class extends Worker {
  constructor(address) {
    super(address);
  }
};

// Whoever saved the page from its menu saved what was seen, too.
const opensAt = document.querySelector("meta[name=opens-at]").content;
if (opensAt && !location.hash) history.replaceState(null, "", opensAt);
