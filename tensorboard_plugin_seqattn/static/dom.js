/** Elements from text: markup is never parsed, so a token cannot become markup. */

export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function svgElement(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  return filled(node, attributes, children);
}

/** Functions are listeners; false, null and undefined are left out. */
function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node[name] = value;
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

export function part(name, ...children) {
  return element("div", {class: name}, ...children);
}

export function button(label, onclick, attributes) {
  return element("button", {type: "button", onclick, ...attributes}, label);
}

/** A view that the arrow keys move in. */
export function focusable(name, label, ...children) {
  const about = {class: `${name} av-focus`, tabindex: 0, role: "application"};
  return element("div", {...about, "aria-label": label}, ...children);
}

/** A token among other text: its direction is its own and changes nothing around it. */
export function isolated(text, name) {
  return element("bdi", {class: name}, text);
}

const contents = new WeakMap();

/** Fills a node again only if its content has changed: sliders move often. */
export function refill(node, content, makeChildren) {
  const key = JSON.stringify(content);
  if (contents.get(node) === key) return;
  contents.set(node, key);
  node.replaceChildren(...makeChildren());
}

/** A number as a reader needs it; a dash where there is none. */
export function numberText(value, digits = 2) {
  if (typeof value !== "number") return "–";
  const text = Number.isFinite(value) ? value.toFixed(digits) : String(value);
  const shown = Number(text) === 0 ? text.replace("-", "") : text; // never −0.00
  return shown.replace("-", "−").replace("Infinity", "∞");
}
