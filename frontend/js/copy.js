// Copies text to the clipboard and says so on the button that was pressed.

const SHOWN_MS = 1600;

/** Makes a button copy what `text()` gives; its words, in a span if it has an icon too, say how it went. */
export function copyOnClick(button, text) {
  const words = button.querySelector("span") ?? button;
  const label = words.textContent;
  button.addEventListener("click", async () => {
    const isCopied = await copyText(text());
    words.textContent = isCopied ? "Copied" : "Not copied: the browser refused";
    setTimeout(() => (words.textContent = label), SHOWN_MS);
  });
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

// The clipboard of a browser is there over https and on this machine only; sites inside a company often have neither.
function copyBySelection(text) {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "sr";
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  return isCopied;
}
