/** A page of pictures: the host for a notebook cell and for a file. */

import {element, isolated} from "./dom.js";
import {shortened, visible} from "./symbols.js";
import {followTheme} from "./theme.js";
import {createViewer} from "./viewer.js";

/** Fills a page with a list of pictures. */
export function showPage(root, pictures) {
  const isDark = {true: false, false: true}; // by what Jupyter says of being light
  followTheme(({dataset}) => isDark[dataset.jpThemeLight]);
  const stage = element("main", {class: "page-stage"});
  const viewer = createViewer(stage);
  const buttons = pictures.map(({source, hypotheses}, i) => {
    const texts = [source.text, hypotheses[0]?.text ?? ""].map((text) =>
      isolated(visible(shortened(text, 200)) || "(empty)"),
    );
    const about = {type: "button", class: "page-sentence", onclick: () => choose(i)};
    return element("button", about, ...texts);
  });
  const list = element("nav", {"aria-label": "Sentences"}, ...buttons);
  list.hidden = pictures.length < 2;
  root.replaceChildren(list, stage);

  function choose(i) {
    buttons.forEach((button, n) => {
      button.ariaPressed = n === i;
    });
    viewer.show(pictures[i]);
  }

  if (pictures.length) choose(0);
  else stage.textContent = "There are no sentences to show.";
  growWithContent(root);
}

/** In a cell of a notebook, the frame is as high as its content. */
function growWithContent(root) {
  const frame = window.frameElement;
  if (!frame) return;
  new ResizeObserver(() => {
    frame.style.height = `${Math.ceil(root.getBoundingClientRect().height) + 4}px`;
  }).observe(root);
}
