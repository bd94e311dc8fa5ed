/** What to do when there is nothing to see, and what all of it means. */

import {button, element} from "./dom.js";
import {METRICS} from "./measures.js";

const CODE = [
  "import keras_seqattn",
  "",
  "attention = keras_seqattn.AttentionCallback(",
  '    translator, ["A sentence to watch."], log_dir="logs/run_1"',
  ")",
  "translator.model.fit(dataset, epochs=10, callbacks=[attention])",
].join("\n");

const KEYS = {
  "← →": "one training step back, on",
  "Home End": "first, last step",
  space: "play, pause",
  "↑ ↓": "sentence above, below",
  "/": "filter the sentences",
  w: "words, tokens",
  g: "gold links",
};

const paragraph = (...content) => element("p", {}, ...content);
const code = (text) => element("code", {}, text);

export function noDataPage() {
  return [
    element("h1", {}, "No attention in this log yet"),
    paragraph("These lines write it while a model trains:"),
    element("pre", {tabindex: 0}, code(CODE)),
    paragraph("TensorBoard must read the same folder: "),
    element("pre", {}, code("tensorboard --logdir logs")),
    paragraph("Then press its reload button: this page fills by itself."),
  ];
}

/** What went wrong, in the words of who knows, and a way to try again. */
export function failurePage({message}, retry) {
  const title = element("h1", {role: "alert"}, "This cannot be shown");
  return [title, paragraph(message), button("Try again", retry)];
}

/** `<dialog>`, for `showModal()` */
export function helpDialog() {
  const heading = (text) => element("h2", {}, text);
  const row = ([term, text]) => [
    element("dt", {}, code(term)),
    element("dd", {}, text),
  ];
  const list = (rows) => element("dl", {}, ...rows.flatMap(row));
  const dialog = element(
    "dialog",
    {class: "tab-help"},
    button("✕", () => dialog.close(), {title: "Close (Esc)"}),
    heading("Where the model looked"),
    paragraph(
      "Each row of the heat map is a token that was written, each column one that " +
        "was read: from there came its context. The address bar always holds a link " +
        "to what you see.",
    ),
    heading("Attention is no explanation"),
    paragraph(
      "It shows where information was taken from, not why a word was chosen. Other " +
        "weights can lead to the same word, and what the encoder wrote at a position " +
        "knows about its neighbours. Change the input to make sure.",
    ),
    heading("Keys"),
    list(Object.entries(KEYS)),
    heading("Metrics of the best translation, for the filter"),
    list(Object.entries(METRICS)),
    paragraph("For example ", code("house bleu<20"), ": this word and a low BLEU."),
  );
  return dialog;
}
