// Makes elements with text only: names of frames are hostile, so nothing here takes markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes (class, title, data-…) and children: texts, elements, or null for none. */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An element of a picture. */
export function svgElement(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

export function icon(name) {
  return svgElement(
    "svg",
    { class: "icon", "aria-hidden": "true" },
    svgElement("use", { href: `#i-${name.replace(/^i-/, "")}` }),
  );
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** The element of a page that has data-part="name"; pages differ in which parts they have. */
export function part(root, name) {
  return root.querySelector(`[data-part="${name}"]`);
}

export function setText(node, text) {
  if (node && node.textContent !== text) node.textContent = text;
}

/** A notice as the page shows them: icon, title, text, then what else belongs to it. */
export function note(kind, iconName, title, text, ...rest) {
  return element(
    "div",
    { class: `note ${kind}`.trim() },
    icon(iconName),
    element("div", {}, element("h3", {}, title), text ? element("p", {}, text) : null, rest),
  );
}

/** Acts once what is drawn now has been seen; nothing is seen of a page that is hidden. */
export const afterSeen = (act) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(act)));

export const prefersReducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
