/** The list of the sentences, a row each, with their metrics. */

import {button, element, numberText, part, refill} from "./dom.js";
import {exampleOf, parseFilter, passes} from "./filter.js";
import {createFilterBox} from "./filter_box.js";
import {METRICS, metricName} from "./measures.js";
import {visible} from "./symbols.js";
import {explained} from "./tooltip.js";

const ORDERS = ["descending", "ascending", ""];

/** `onChange(changes)`: of sentence, sort, metric or filter. */
export function createSentences(container, onChange) {
  const filter = createFilterBox((text) => onChange({filter: text}));
  const count = element("span");
  const widen = button("All measures", () => {
    widen.ariaPressed = container.classList.toggle("list-wide");
  });
  const head = element("tr");
  const body = element("tbody", {
    onclick: ({target}) => onChange({sentence: target.closest("tr").dataset.tag}),
  });
  const table = element("table", {}, element("thead", {}, head), body);
  const foot = part("list-foot", count, widen);
  container.classList.add("list");
  container.append(filter.node, part("list-rows", table), foot);

  function heading(key) {
    const label = button(metricName(key));
    return element("th", {}, explained(label, METRICS[key]));
  }

  /** A click sorts by a metric: down, up, then as logged. */
  function showOrder(keys, {metric, sort}) {
    keys.forEach((key, k) => {
      const cell = head.cells[k + 1];
      const order = key === metric ? sort : "";
      const next = ORDERS[(ORDERS.indexOf(order) + 1) % 3];
      cell.ariaSort = order || "none";
      cell.firstChild.onclick = () => onChange({metric: key, sort: next});
    });
  }

  function rowOf({tag, text, note, error}, keys) {
    const shown = visible(error ? tag : text.slice(0, 300)) || "(empty)";
    const title = visible(error ?? text.slice(0, 3000));
    const about = {class: "list-text", dir: "auto", title};
    const first = element("td", {}, button(shown, null, about));
    if (note !== undefined) {
      const translation = visible(note.slice(0, 300)) || "(empty)";
      first.append(element("div", {class: "list-note", dir: "auto"}, translation));
    }
    const row = element("tr", {class: error && "list-broken", "data-tag": tag}, first);
    row.append(...keys.map(() => element("td")));
    return row;
  }

  /** Marks the chosen row. The tab key reaches this row only. */
  function choose(tag) {
    const hasFocus = body.contains(document.activeElement);
    const rows = [...body.rows];
    const chosen = rows.find(({dataset}) => dataset.tag === tag);
    for (const row of rows) {
      const label = row.querySelector("button");
      const isChosen = String(row === chosen);
      if (label.ariaCurrent !== isChosen) label.ariaCurrent = isChosen;
      label.tabIndex = row === (chosen ?? rows[0]) ? 0 : -1;
    }
    if (hasFocus) chosen?.querySelector("button").focus();
  }

  function showNumbers(sentences, keys, {metric}) {
    [...body.rows].forEach(({cells}, i) => {
      keys.forEach((key, k) => {
        cells[k + 1].textContent = numberText(sentences[i].metrics?.[key]);
      });
    });
    for (const {cells} of [head, ...body.rows]) {
      keys.forEach((key, k) => {
        cells[k + 1].className = key === metric ? "list-number" : "list-more";
      });
    }
  }

  return {
    /** Sentences `{tag, text, metrics}` in the order of the log; with a `note` below
     * the text, or an `error`. `state` as in START of the tab. */
    update(sentences, keys, state) {
      const query = parseFilter(state.filter, keys);
      const passing = ({text, metrics}) => passes(query, text, metrics);
      const found = inOrder(sentences.filter(passing), state);
      const texts = found.map(({tag, text, note}) => [tag, text, note]);
      refill(head, keys, () => [element("th", {}, "Sentence"), ...keys.map(heading)]);
      refill(body, [texts, keys], () => found.map((one) => rowOf(one, keys)));
      showOrder(keys, state);
      showNumbers(found, keys, state);
      choose(state.sentence);
      widen.hidden = keys.length < 2;
      count.textContent = `${found.length} of ${sentences.length} sentences`;
      const wanted = [query.wrong[0]?.key, state.metric, ...keys];
      const example = query.wrong.length ? exampleOf(sentences, wanted) : "";
      filter.show(state.filter, query, found.length, keys, example);
    },

    /** Brings the chosen sentence into view. */
    reveal() {
      body.querySelector("[aria-current=true]")?.scrollIntoView({block: "nearest"});
    },

    focusFilter() {
      filter.focus();
    },

    /** The sentence so many rows below the chosen one, as sorted and filtered. */
    moveBy(distance) {
      const rows = [...body.rows];
      const chosen = rows.findIndex((row) => row.querySelector("[aria-current=true]"));
      const next = rows[Math.min(Math.max(0, chosen + distance), rows.length - 1)];
      if (next) onChange({sentence: next.dataset.tag});
    },
  };
}

/** Sorted by the metric; sentences without a number come last. */
function inOrder(sentences, {metric, sort}) {
  const sign = {ascending: 1, descending: -1}[sort] ?? 0;
  const rank = ({metrics}) => sign * (metrics?.[metric] ?? sign * 1e300);
  return sentences.sort((a, b) => rank(a) - rank(b));
}
