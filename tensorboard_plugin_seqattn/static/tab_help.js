/** What to do when there is nothing to see, and what all of it means. */

import {element} from "./dom.js";
import {button, iconButton} from "./tab_dom.js";
import {METRICS} from "./tab_filter.js";

const CODE = `\
import keras_seqattn

attention = keras_seqattn.AttentionCallback(
    translator, ["A sentence to watch."], log_dir="logs/run_1"
)
translator.model.fit(dataset, epochs=10, callbacks=[attention])`;

const KEYS = [
  ["← →", "one training step back, on"],
  ["Home End", "first, last step"],
  ["space", "play, pause"],
  ["↑ ↓", "sentence above, below"],
  ["/", "filter the sentences"],
  ["w", "words, subwords"],
  ["b", "next hypothesis of the beam"],
  ["g", "gold alignment on, off"],
  ["c", "compare with another run, or not"],
  ["1 2 3 4", "all views, heat map, links, reading"],
  ["?", "this help"],
];

export function noDataPage() {
  return element("section", {class: "tab-message"},
    element("h1", {}, "No attention in this log yet"),
    element("p", {}, "These lines write it while a model trains:"),
    element("pre", {tabindex: 0}, element("code", {}, CODE)),
    element("p", {},
      "TensorBoard must read the same folder: ",
      element("code", {}, "tensorboard --logdir logs"),
      ". Then press its reload button: this page fills by itself."),
  );
}

/** What went wrong, in the words of who knows, and a way to try again. */
export function failurePage(error, retry) {
  return element("section", {class: "tab-message", role: "alert"},
    element("h1", {}, "This cannot be shown"),
    element("p", {}, error.message),
    button("Try again", {className: "tab-action", onclick: retry}),
  );
}

/** `<dialog>`, for `showModal()` */
export function helpDialog() {
  const list = (rows, tag) =>
    element("dl", {}, ...rows.flatMap(([term, text]) => [
      element("dt", {}, element(tag, {}, term)), element("dd", {}, text),
    ]));
  const dialog = element("dialog", {class: "tab-help", "aria-label": "Help"},
    iconButton("close", "Close (Esc)", () => dialog.close()),
    element("h1", {}, "Where the model looked"),
    element("p", {},
      "Each row of the heat map is a token that was written, each column one that was ",
      "read. A row sums to 1: from there came the context of this token. The address bar ",
      "always holds a link to what you see."),
    element("h2", {}, "Attention is no explanation"),
    element("p", {},
      "It shows where information was taken from, not why a word was chosen. Other weights ",
      "can lead to the same word, and what the encoder wrote at one position knows about its ",
      "neighbours. Take it as a hint where to look, and change the input to make sure."),
    element("h2", {}, "Keys"),
    list(KEYS, "kbd"),
    element("h2", {}, "Metrics"),
    list(METRICS.map(({label, help}) => [label, help]), "b"),
    element("p", {},
      "Those of the best translation, token by token. In the filter they stand beside words: ",
      element("code", {}, "house bleu<20 entropy>0.5"), "."),
  );
  dialog.onclick = ({target}) => target === dialog && dialog.close();
  return dialog;
}
