// The upload page: files may be dropped anywhere on it, and what has been sent is told. The form works without this.
import { formatWholePercent } from "./format.js";

const isFile = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");

function dragged(event) {
  if (!isFile(event)) return;
  event.preventDefault();
  document.querySelector("#upload .drop")?.classList.toggle("over", event.type === "dragover");
}

function dropped(event) {
  dragged(event);
  const input = document.getElementById("file");
  if (!isFile(event) || !input || event.dataTransfer.files.length === 0) return;
  input.files = event.dataTransfer.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

function progressed({ detail: { loaded, total } }) {
  const line = document.querySelector("#upload .busy");
  if (line && total)
    line.textContent =
      loaded < total ? `${formatWholePercent(loaded / total)} is sent.` : "All is sent and is being read.";
}

for (const type of ["dragover", "dragleave"]) document.addEventListener(type, dragged);
document.addEventListener("drop", dropped);
document.addEventListener("htmx:xhr:progress", progressed);
