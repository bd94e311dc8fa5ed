/**
 * The sentences, a row each: a curve over the steps and the metrics at the present step,
 * to sort and filter by.
 */

import {element, svgElement} from "./dom.js";
import {visible} from "./symbols.js";
import {entryAt} from "./tab_choice.js";
import {button, curvePath, rangeOf, shortNumber} from "./tab_dom.js";
import {filterName, filterPresets, metricOf, parseFilter, passes} from "./tab_filter.js";

const SETTLED = 250; // ms after the last step until the rows are sorted anew
const SHOWN = 300; // characters of a sentence

/** `onChange(changes)`: of sentence, sort, filter, metric or wide. */
export function createTable(container, onChange) {
  const filter = element("input", {
    type: "search", id: "tab-filter", spellcheck: "false", "aria-label": "Filter",
    placeholder: "Filter: words, bleu<20, entropy>0.5",
    title: "Words of the sentence, or a metric with < or > and a number ( / )",
  });
  const chips = element("div", {class: "tab-chips"});
  const hint = element("p", {class: "tab-hint", role: "status"});
  const count = element("span");
  const wide = button("", {onclick: () => onChange({wide: !state.wide})});
  const head = element("tr");
  const body = element("tbody");
  const table = element("table", {}, element("thead", {}, head), body);
  container.append(
    element("div", {class: "tab-filter"}, filter, chips, hint),
    element("div", {class: "tab-rows"}, table),
    element("div", {class: "tab-foot"}, count, wide),
  );
  filter.oninput = () => onChange({filter: filter.value});
  body.onclick = ({target}) => {
    const row = target.closest("tr");
    if (row) onChange({sentence: row.dataset.tag});
  };

  let state = {};
  let data = {sentences: [], histories: [], keys: []};
  let rows = []; // [{sentence, metrics, element, cells: [{key, element}]}], as logged
  let settling = 0;

  function rebuild() {
    const few = [state.metric, state.sort.replace("-", "")];
    const keys = data.keys.filter((key) => state.wide || few.includes(key));
    const all = data.histories.flatMap((history) => [...history.values()].flat());
    const range = rangeOf(all.map(({metrics}) => metrics[state.metric]));
    container.classList.toggle("tab-is-wide", state.wide);
    wide.hidden = data.keys.length < 2;
    wide.textContent = state.wide ? "One metric" : "All metrics";
    wide.ariaPressed = String(state.wide);
    head.replaceChildren(
      sortHeading("", "Sentence", "in the order of the log", state.sort, onChange),
      ...(keys.length ? [element("th", {class: "tab-spark"}, "Steps")] : []),
      ...keys.map((key) => {
        const {short, help} = metricOf(key);
        return sortHeading(key, short, help, state.sort, onChange);
      }),
    );
    rows = data.sentences.map((sentence) => {
      const curves = data.histories.map((history) =>
        (history.get(sentence.tag) ?? []).map(({metrics}) => metrics[state.metric]),
      );
      return rowOf(sentence, keys, curves, range);
    });
    fill();
    arrange();
  }

  /** The numbers at the present step: cheap enough for the slider. */
  function fill() {
    for (const row of rows) {
      const entries = data.histories[0]?.get(row.sentence.tag);
      row.metrics = entries && entryAt(entries, state.step)?.metrics;
      for (const cell of row.cells) {
        const text = shortNumber(row.metrics?.[cell.key]);
        if (cell.element.textContent !== text) cell.element.textContent = text;
      }
    }
  }

  /** Which rows there are, and in which order. */
  function arrange() {
    const query = parseFilter(state.filter, data.keys);
    const found = rows.filter(({sentence, metrics}) => passes(query, sentence.text, metrics));
    const [key, sign] = [state.sort.replace("-", ""), state.sort.startsWith("-") ? -1 : 1];
    const rank = ({metrics}) => {
      const value = metrics?.[key];
      return Number.isNaN(value ?? NaN) ? Infinity : sign * value;
    };
    if (key) found.sort((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0));
    body.replaceChildren(...found.map((row) => row.element));
    markChosen();
    const all = `${rows.length} sentence${rows.length === 1 ? "" : "s"}`;
    count.textContent = found.length < rows.length ? `${found.length} of ${all}` : all;
    hint.textContent = hintFor(query, found.length, data.keys);
    const presets = filterPresets(rows.map(({metrics}) => metrics));
    chips.replaceChildren(...presets.map((preset) => chip(preset, state.filter, onChange)));
  }

  function markChosen() {
    for (const row of rows) {
      row.element.ariaSelected = String(row.sentence.tag === state.sentence);
    }
  }

  function reveal() {
    body.querySelector("[aria-selected=true]")?.scrollIntoView({block: "nearest"});
  }

  return {
    /** Sentences in the order of the log, histories as of `fetchMetrics`, metrics. */
    setData(sentences, histories, keys) {
      const isNew = data.sentences.length === 0;
      data = {sentences, histories, keys};
      rebuild();
      if (isNew) reveal();
    },
    /** The state, with the sentence that is shown; `changed` as of `createState`. */
    update(changed, now) {
      state = now;
      if (filter.value !== state.filter) filter.value = state.filter;
      if (["metric", "wide", "sort"].some((key) => changed.has(key))) rebuild();
      else if (changed.has("filter")) arrange();
      if (changed.has("sentence")) {
        markChosen();
        reveal();
      }
      if (changed.has("step")) {
        fill();
        clearTimeout(settling);
        settling = setTimeout(arrange, SETTLED); // rows that jump cannot be followed
      }
    },
    focusFilter() {
      filter.select();
    },
    /** The sentence so many rows below the chosen one, as sorted and filtered. */
    moveBy(distance) {
      const tags = [...body.rows].map((row) => row.dataset.tag);
      const next = Math.max(0, tags.indexOf(state.sentence) + distance);
      if (tags.length) onChange({sentence: tags[Math.min(next, tags.length - 1)]});
    },
  };
}

/** Sorts by a metric, the worst first; then the other way; then as logged. */
function sortHeading(key, label, help, sort, onChange) {
  const bestIsHigh = metricOf(key).best === "high";
  const orders = bestIsHigh ? [key, `-${key}`, ""] : [`-${key}`, key, ""];
  const at = key === "" ? 2 : orders.indexOf(sort);
  const onclick = () => {
    onChange(key === "" ? {sort: ""} : {sort: orders[(at + 1) % 3], metric: key});
  };
  const named = {"-": "descending"}[sort[0]] ?? "ascending";
  return element("th",
    {class: key && "tab-number", "aria-sort": key && at >= 0 && at < 2 ? named : "none"},
    button(label, {title: help, onclick}));
}

function rowOf(sentence, keys, curves, range) {
  const {tag, text, error} = sentence;
  const lines = curves.map((values, i) => {
    const d = curvePath(values, range, 72, 16);
    const place = {transform: "translate(0 2)", class: `tab-curve tab-curve-${i}`};
    return svgElement("path", {...place, d});
  });
  const spark = svgElement("svg", {viewBox: "0 0 72 20", preserveAspectRatio: "none"});
  spark.append(...lines.reverse()); // the run itself is in front
  const cells = keys.map((key) => ({key, element: element("td", {class: "tab-number"})}));
  const shown = visible(error ? tag : text.slice(0, SHOWN)) || "(empty)";
  const row = element("tr", {class: error ? "tab-broken" : ""},
    element("td", {class: "tab-text"},
      element("div", {dir: "auto", title: visible(error ?? text.slice(0, 10 * SHOWN))}, shown)),
    ...(keys.length ? [element("td", {class: "tab-spark"}, spark)] : []),
    ...cells.map((cell) => cell.element));
  row.dataset.tag = tag;
  return {sentence, cells, element: row, metrics: undefined};
}

/** Puts a ready-made condition into the filter, or takes its metric out again. */
function chip({name, text, help}, filter, onChange) {
  const start = text.slice(0, 1 + text.search(/[<>]/));
  const parts = filter.split(/\s+/).filter(Boolean);
  const others = parts.filter((part) => !part.startsWith(start));
  const isOn = others.length < parts.length;
  const onclick = () => onChange({filter: [...others, ...(isOn ? [] : [text])].join(" ")});
  const title = `${help}: ${text}`;
  return button(name, {className: "tab-chip", ariaPressed: String(isOn), title, onclick});
}

function hintFor({wrong}, count, keys) {
  if (wrong.length) {
    const names = keys.map(filterName).join(", ");
    return `Not understood: ${wrong.join(" ")}. Metrics here: ${names || "none"}.`;
  }
  return count ? "" : "No sentence is like that. Take a word or a condition away.";
}
