/** Explanations that appear where a reader points, or goes with the keyboard. */

import {element} from "./dom.js";

let box = null; // one for all

/** An element with an explanation. The keyboard reaches it, even if it is no button. */
export function explained(node, text) {
  if (!node.matches("button, select, input")) node.tabIndex = 0;
  node.classList.add("av-explained");
  node.ariaDescription = text;
  const show = () => showAt(node, text);
  node.addEventListener("pointerenter", show);
  node.addEventListener("focus", show);
  node.addEventListener("pointerleave", hide);
  node.addEventListener("blur", hide);
  node.addEventListener("keydown", ({key}) => key === "Escape" && hide());
  return node;
}

function showAt(node, text) {
  box ??= element("p", {class: "av-tooltip", role: "tooltip"});
  box.textContent = text;
  node.closest(".attention-viewer").append(box); // has the colours and the type
  const {left, top, bottom} = node.getBoundingClientRect();
  const {innerWidth, innerHeight} = window;
  const {width, height} = box.getBoundingClientRect();
  const y = bottom + 6 + height < innerHeight ? bottom + 6 : top - 6 - height;
  box.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  box.style.top = `${Math.max(8, y)}px`;
}

function hide() {
  box?.remove();
}
