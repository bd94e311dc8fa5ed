/** The pages of the tab without data or with an error, and its help. */

import {button, element} from "./dom.js";
import {METRICS} from "./measures.js";

const CODE = [
  "import keras_seqattn",
  "",
  "attention = keras_seqattn.callbacks.AttentionCallback(",
  '    translator, ["A sentence to watch."], log_dir="logs/run_1"',
  ")",
  "translator.model.fit(dataset, epochs=10, callbacks=[attention])",
].join("\n");

const KEYS = {
  "← →": "previous, next training step",
  "Home End": "first, last step",
  space: "play, pause",
  "↑ ↓": "previous, next sentence",
  "/": "filter the sentences",
  w: "switch between words and tokens",
  g: "show or hide gold links",
  l: "next layer",
  a: "next kind of attention: to the source, within the source, within the target",
};

const paragraph = (...content) => element("p", {}, ...content);
const code = (text) => element("code", {}, text);

export function noDataPage() {
  return [
    element("h1", {}, "No attention in this log yet"),
    paragraph("These lines log attention while a model trains:"),
    element("pre", {tabindex: 0}, code(CODE)),
    paragraph("TensorBoard must read the same folder: "),
    element("pre", {}, code("tensorboard --logdir logs")),
    paragraph("Then press the reload button of TensorBoard, and the data appear here."),
  ];
}

/** The message of an error, and a button to try again. */
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
      "Each row of the heat map is a token that the model wrote, each column is a " +
        "token that it read. A cell shows how much of the context of the row came " +
        "from the column. The address bar always has a link to what you see.",
    ),
    paragraph(
      "A Transformer has an attention in each layer, with several heads, and also " +
        "looks at its own sequence: at the source within the source, and at what it " +
        "has written within the target. There rows and columns have the same tokens. " +
        "“All layers” shows all heads of all layers.",
    ),
    heading("Attention is no explanation"),
    paragraph(
      "It shows where information came from, not why the model chose a word. Other " +
        "weights can lead to the same word, and the encoder's vector at a position " +
        "also contains information about other positions. To be sure, change the " +
        "input and compare.",
    ),
    heading("Keys"),
    list(Object.entries(KEYS)),
    heading("Measures of the best translation, which the filter can use"),
    list(Object.entries(METRICS)),
    paragraph(
      "For example, ", code("house bleu<20"), " finds sentences with this word and a " +
        "low BLEU.",
    ),
  );
  return dialog;
}
