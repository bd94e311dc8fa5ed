/** What is seen, as files. */

import {element} from "./dom.js";

/** Offers content as a download; nothing leaves the browser. */
export function download(name, content, type) {
  const blob = content instanceof Blob ? content : new Blob([content], {type});
  const link = element("a", {href: URL.createObjectURL(blob), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A row for each target token, a column for each source token. */
export function csvOf({rows, columns, values}, title = "") {
  const lines = [[title, ...columns.map(({text}) => text)]];
  rows.forEach(({text}, i) => {
    const row = values.subarray(i * columns.length, (i + 1) * columns.length);
    const number = (value) => String(Number(value.toPrecision(6)));
    lines.push([text, ...Array.from(row, number)]);
  });
  return lines.map((line) => `${line.map(csvField).join(",")}\r\n`).join("");
}

/** Spreadsheets run what begins like a formula: such a token gets an apostrophe. */
function csvField(content) {
  const isFormula = /^[=+@\t\r-]./.test(content) && !isNumber(content);
  const safe = isFormula ? `'${content}` : content;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function isNumber(content) {
  return content.trim() !== "" && !Number.isNaN(Number(content));
}

/** A picture with numbers in the place of base64: weights[head][target][source]. */
export function numbersOf(raw, decoded) {
  const hypotheses = raw.hypotheses.map((hypothesis, n) => {
    const [heads, rows, columns] = hypothesis.shape;
    const {weights} = decoded.hypotheses[n];
    const number = (value) =>
      Number.isFinite(value) ? Number(value.toPrecision(5)) : null;
    const row = (start) => Array.from(weights.subarray(start, start + columns), number);
    const matrix = (head) =>
      Array.from({length: rows}, (_, i) => row((head * rows + i) * columns));
    const numbers = Array.from({length: heads}, (_, head) => matrix(head));
    return {...hypothesis, weights: numbers};
  });
  return {...raw, hypotheses};
}
