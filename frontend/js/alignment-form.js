// The alignment of a comparison as a form: rules to tick, patterns of one's own, what they would do, and saving them for the project.
import { previewWords, reportWords, rulesText } from "./alignment-text.js";
import { element, part, setText } from "./dom.js";

const PREVIEW_AFTER_MS = 250; // without typing

/** Binds the form below `root`; `url` previews rules, `choose(text)` is called when they are to be used. */
export function bindAlignment(root, { url, choose }) {
  const form = part(root, "alignment-form");
  const patterns = part(root, "alignment-patterns");
  const preview = part(root, "alignment-preview");
  let timer = 0;
  let latest = 0;

  const text = () =>
    rulesText(
      [...form.querySelectorAll("input[name=rule]:checked")].map(({ value }) => value),
      [...patterns.children].map((row) => [...row.querySelectorAll("input")].map(({ value }) => value)),
    );

  function addPattern([pattern = "", by = ""] = []) {
    const remove = element("button", { type: "button", class: "btn plain" }, "Remove");
    const row = element(
      "p",
      { class: "pattern" },
      element("input", {
        value: pattern,
        "aria-label": "Pattern of RE2",
        placeholder: "pattern (RE2)",
        maxlength: 500,
      }),
      element("input", {
        value: by,
        "aria-label": "What takes its place",
        placeholder: "what takes its place",
        maxlength: 500,
      }),
      remove,
    );
    remove.addEventListener("click", () => (row.remove(), changed()));
    patterns.append(row);
    return row;
  }

  function changed() {
    clearTimeout(timer);
    timer = setTimeout(showPreview, PREVIEW_AFTER_MS);
  }

  async function showPreview() {
    const round = ++latest;
    const response = await fetch(`${url}?rules=${encodeURIComponent(text())}`).catch(() => null);
    const answer = await response?.json().catch(() => null);
    if (round !== latest) return;
    preview.replaceChildren(...(answer?.examples ? linesOf(answer) : [answer?.error ?? "The site did not answer."]));
  }

  async function save({ currentTarget }) {
    const body = new FormData(form);
    body.set("rules", text());
    const response = await fetch(form.action, { method: "POST", body }).catch(() => null);
    const isSaved = response?.ok;
    setText(currentTarget, isSaved ? "Saved for this project" : "Save for this project");
    if (!isSaved)
      setText(
        preview,
        response?.status === 422 ? await response.text() : "The rules were not saved: members may save them.",
      );
  }

  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => (event.preventDefault(), choose(text())));
  part(root, "alignment-add").addEventListener("click", () => addPattern().querySelector("input").focus());
  part(root, "alignment-save")?.addEventListener("click", save);
  return {
    /** `report` is the alignment of the comparison that is shown. */
    show(report, unit) {
      clearTimeout(timer);
      latest++; // what rules would do, they have done
      setText(part(root, "alignment-words"), reportWords(report, unit));
      part(root, "alignment-rules").replaceChildren(...report.known.map((rule) => ruleLine(rule, report.rules)));
      patterns.replaceChildren();
      for (const pair of report.replacements) addPattern(pair);
      preview.replaceChildren();
    },
  };
}

function ruleLine({ rule, title, example: [from, to] }, rules) {
  const box = element("input", { type: "checkbox", name: "rule", value: rule });
  box.checked = rules.split(";").includes(rule);
  return element(
    "li",
    {},
    element("label", { class: "inline" }, box, title),
    element(
      "span",
      { class: "small ink2" },
      element("code", {}, from),
      " → ",
      to ? element("code", {}, to) : "its caller",
    ),
  );
}

function linesOf(answer) {
  const examples = answer.examples.map(([from, to]) =>
    element("li", {}, element("code", {}, from), " → ", to ? element("code", {}, to) : "its caller"),
  );
  return [element("p", {}, previewWords(answer)), element("ul", {}, examples)];
}
