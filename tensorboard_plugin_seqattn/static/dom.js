/** Elements of text only: no markup is ever parsed, so no token can become any. */

export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function svgElement(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  return filled(node, attributes, children);
}

/** An attribute that is false or null is left out, one that is true is empty. */
function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

/** A token among other text: its direction is its own and changes nothing around it. */
export function isolated(text, attributes = {}) {
  return element("bdi", attributes, text);
}

/** "dark" or "light", as the nearest ancestor of a node says. */
export function themeOf(node) {
  const named = node.closest("[data-theme]");
  return named && named.dataset.theme === "dark" ? "dark" : "light";
}
