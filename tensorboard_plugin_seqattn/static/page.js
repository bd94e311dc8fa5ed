/** A page of pictures: the host for a notebook cell and for a file. */

import {element, isolated} from "./dom.js";
import {shortened, visible} from "./symbols.js";
import {createViewer} from "./viewer.js";

/** Fills a page with a list of pictures. */
export function showPage(root, pictures) {
  followTheme();
  const list = element("nav", {class: "page-list", "aria-label": "Sentences"});
  const stage = element("main", {class: "page-stage"});
  const viewer = createViewer(stage);
  const buttons = pictures.map(({source, hypotheses}, i) => {
    const texts = [source.text, hypotheses[0]?.text ?? ""].map((text) =>
      isolated(visible(shortened(text, 200)) || "(empty)", {dir: "auto"}),
    );
    const about = {type: "button", class: "page-sentence"};
    const button = element("button", about, ...texts);
    button.addEventListener("click", () => choose(i));
    return button;
  });
  const choose = (i) => {
    buttons.forEach((button, n) => {
      button.setAttribute("aria-current", String(n === i));
    });
    viewer.show(pictures[i]);
  };
  list.append(...buttons);
  list.hidden = pictures.length < 2;
  root.replaceChildren(list, stage);
  if (pictures.length) choose(0);
  else stage.textContent = "There are no sentences to show.";
  growWithContent(root);
}

/** Dark where the notebook is, or else where the system is. */
function followTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => {
    const theme = notebookTheme() ?? (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme;
  };
  dark.addEventListener("change", follow);
  follow();
}

function notebookTheme() {
  try {
    const {jpThemeLight} = window.parent.document.body.dataset; // JupyterLab
    if (jpThemeLight === undefined) return null;
    return jpThemeLight === "false" ? "dark" : "light";
  } catch {
    return null; // another origin
  }
}

/** In a cell of a notebook the frame is as high as what is in it. */
function growWithContent(root) {
  let frame = null;
  try {
    frame = window.frameElement;
  } catch {
    return; // another origin
  }
  if (!frame) return;
  new ResizeObserver(() => {
    frame.style.height = `${Math.ceil(root.getBoundingClientRect().height) + 4}px`;
  }).observe(root);
}
