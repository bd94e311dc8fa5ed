/** The sentences, a row each, with the metrics at the present step. */

import {button, element, numberText, part, refill} from "./dom.js";
import {METRICS, metricName} from "./measures.js";
import {visible} from "./symbols.js";
import {entryAt} from "./tab_choice.js";
import {parseFilter, passes} from "./tab_filter.js";

const ORDERS = ["descending", "ascending", ""];

/** `onChange(changes)`: of sentence, sort, metric or filter. */
export function createTable(container, onChange) {
  const filter = element("input", {
    type: "search",
    id: "tab-filter",
    placeholder: "Filter: words, bleu<20, entropy>0.5",
    oninput: () => onChange({filter: filter.value}),
  });
  const hint = element("p", {class: "tab-hint", role: "status"});
  const count = element("span");
  const widen = button("All metrics", () => container.classList.toggle("tab-wide"));
  const head = element("tr");
  const body = element("tbody", {
    onclick: ({target}) => onChange({sentence: target.closest("tr").dataset.tag}),
  });
  const table = element("table", {}, element("thead", {}, head), body);
  const foot = part("tab-foot", count, widen);
  container.append(part("tab-filter", filter, hint), part("tab-rows", table), foot);

  /** Sorts by a metric, down, up, then as logged. */
  function heading(key, state) {
    const order = key === state.metric ? state.sort : "";
    const next = ORDERS[(ORDERS.indexOf(order) + 1) % 3];
    const onclick = () => onChange({metric: key, sort: next});
    const about = {class: cellName(key, state), "aria-sort": order || "none"};
    const label = button(metricName(key), onclick, {title: METRICS[key]});
    return element("th", about, label);
  }

  function rowOf({tag, text, error}, keys, state) {
    const shown = visible(error ? tag : text.slice(0, 300)) || "(empty)";
    const title = visible(error ?? text.slice(0, 3000));
    const first = element("div", {class: "tab-text", dir: "auto", title}, shown);
    const about = {class: error && "tab-broken", "data-tag": tag};
    const numbers = keys.map((key) => element("td", {class: cellName(key, state)}));
    return element("tr", about, element("td", {}, first), ...numbers);
  }

  return {
    /** Sentences in the order of the log, `history` as of `fetchMetrics`. */
    update(sentences, history, keys, state) {
      if (filter.value !== state.filter) filter.value = state.filter;
      const all = sentences.map((sentence) => {
        const entry = entryAt(history.get(sentence.tag), state.step);
        return {...sentence, metrics: entry?.metrics};
      });
      const query = parseFilter(state.filter, keys);
      const found = all.filter(({text, metrics}) => passes(query, text, metrics));
      const sign = {ascending: 1, descending: -1}[state.sort] ?? 0;
      const rank = ({metrics}) => sign * (metrics?.[state.metric] ?? sign * 1e300);
      found.sort((a, b) => rank(a) - rank(b)); // those without a number come last
      refill(head, [keys, state.metric, state.sort], () => [
        element("th", {}, "Sentence"),
        ...keys.map((key) => heading(key, state)),
      ]);
      refill(body, [found.map(({tag, text}) => [tag, text]), keys, state.metric], () =>
        found.map((sentence) => rowOf(sentence, keys, state)),
      );
      [...body.rows].forEach((row, i) => {
        row.ariaSelected = found[i].tag === state.sentence;
        keys.forEach((key, k) => {
          row.cells[k + 1].textContent = numberText(found[i].metrics?.[key]);
        });
      });
      widen.hidden = keys.length < 2;
      count.textContent = `${found.length} of ${all.length} sentences`;
      hint.textContent = hintFor(query, found.length, keys);
    },

    /** Brings the chosen sentence into view. */
    reveal() {
      body.querySelector("[aria-selected=true]")?.scrollIntoView({block: "nearest"});
    },

    focusFilter() {
      filter.select();
    },

    /** The sentence so many rows below the chosen one, as sorted and filtered. */
    moveBy(distance) {
      const rows = [...body.rows];
      const chosen = rows.findIndex((row) => row.ariaSelected === "true");
      const next = rows[Math.min(Math.max(0, chosen + distance), rows.length - 1)];
      if (next) onChange({sentence: next.dataset.tag});
    },
  };
}

function cellName(key, {metric}) {
  return key === metric ? "tab-number" : "tab-more";
}

function hintFor({wrong}, count, keys) {
  if (!wrong.length) return count ? "" : "No sentence fits this filter.";
  const names = keys.join(", ") || "none";
  return `Not understood: ${wrong.join(" ")}. Metrics here: ${names}.`;
}
