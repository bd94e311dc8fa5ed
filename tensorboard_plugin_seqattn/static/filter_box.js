/** The input of the filter. If it is not understood, it says so, with an example. */

import {button, element, part} from "./dom.js";
import {metricName} from "./measures.js";

/** `onFilter(text)` when the reader types, or takes the example. */
export function createFilterBox(onFilter) {
  const input = element("input", {
    ...{type: "search", id: "list-filter", placeholder: "Filter: words, entropy>0.5"},
    ...{"aria-label": "Filter the sentences", "aria-describedby": "list-hint"},
    oninput: () => onFilter(input.value),
  });
  const hint = element("p", {class: "list-hint", id: "list-hint", role: "status"});
  let said = "";

  /** Keeps the button, which may have the focus, while the text is the same. */
  function say(text, example) {
    if (said === text + example) return;
    said = text + example;
    const label = example || "Show all sentences";
    const take = () => (onFilter(example), input.focus());
    hint.replaceChildren(...(text ? [`${text} `, button(label, take)] : []));
  }

  return {
    node: part("list-filter", input, hint),

    /** The text, what `parseFilter` found in it, and how many sentences pass. */
    show(text, {wrong: [wrong]}, count, keys, example) {
      if (input.value !== text) input.value = text;
      input.ariaInvalid = Boolean(wrong);
      if (wrong) say(reasonFor(wrong, keys, example), example);
      else say(text && !count ? "No sentence fits this filter." : "", "");
    },

    focus() {
      input.select();
    },
  };
}

function reasonFor({word, key}, keys, example) {
  const about = `“${word}” is not understood, so it is left out.`;
  if (!example) return `${about} These sentences have no measures to compare.`;
  const names = keys.map(metricName).join(", ");
  const known = key ? "" : ` There are: ${names}.`;
  return `${about} Write a measure, < or >, and a number.${known} For example:`;
}
