/** A page of pictures: the host for a notebook cell and for a file. */

import {element, part} from "./dom.js";
import {listenToKeys} from "./keys.js";
import {METRICS} from "./measures.js";
import {createSentences} from "./sentences.js";
import {followTheme} from "./theme.js";
import {createViewer} from "./viewer.js";

/** Fills a page with a list of pictures. */
export function showPage(root, pictures) {
  const isDark = {true: false, false: true}; // by what Jupyter says of being light
  followTheme(({dataset}) => isDark[dataset.jpThemeLight]);
  const [title, list] = [element("header"), part("page-list")];
  const stage = element("main", {class: "page-stage"});
  const viewer = createViewer(stage);
  const sentences = createSentences(list, change);
  const known = pictures.map(({source, hypotheses, metrics}, i) => {
    const note = hypotheses[0]?.text ?? "";
    return {tag: String(i), text: source.text, note, metrics};
  });
  const keys = Object.keys(METRICS).filter((key) =>
    pictures.some(({metrics}) => Number.isFinite(metrics?.[key])),
  );
  const metric = keys.includes("entropy") ? "entropy" : keys[0];
  let state = {sentence: "0", metric, sort: "", filter: ""};

  function change(changes) {
    const {sentence} = state;
    state = {...state, ...changes};
    sentences.update(known, keys, state);
    if (state.sentence !== sentence) viewer.show(pictures[state.sentence]);
    if ("sentence" in changes) sentences.reveal();
  }

  title.append(element("h1", {}, document.title));
  title.hidden = isFramed(); // a cell of a notebook needs no title
  list.hidden = pictures.length < 2;
  root.classList.add("attention-viewer", "page");
  root.replaceChildren(title, list, stage);
  listenToKeys(
    {
      ArrowUp: () => sentences.moveBy(-1),
      ArrowDown: () => sentences.moveBy(1),
      "/": sentences.focusFilter,
    },
    list,
  );
  if (pictures.length) viewer.show(pictures[0]);
  else stage.textContent = "There are no sentences to show.";
  change({});
  growWithContent(root);
}

function isFramed() {
  return window.parent !== window;
}

/** In a cell of a notebook, the frame is as high as its content. */
function growWithContent(root) {
  const frame = window.frameElement;
  if (!frame) return;
  new ResizeObserver(() => {
    frame.style.height = `${Math.ceil(root.getBoundingClientRect().height) + 4}px`;
  }).observe(root);
}
