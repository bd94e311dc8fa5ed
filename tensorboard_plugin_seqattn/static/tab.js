/** The tab: its parts, their shared state, and their data. */

import {button, part} from "./dom.js";
import {listenToKeys} from "./keys.js";
import {METRICS} from "./measures.js";
import {createSentences} from "./sentences.js";
import {createAlignments} from "./tab_alignments.js";
import {choose, entryAt} from "./tab_choice.js";
import {fetchLayers, fetchMetrics, fetchRuns, fetchSeries} from "./tab_data.js";
import {failurePage, helpDialog, noDataPage} from "./tab_help.js";
import {writeLink} from "./tab_host.js";
import {createOverview} from "./tab_overview.js";
import {createRuns} from "./tab_runs.js";
import {START, linkOf, stateOf} from "./tab_state.js";
import {createSteps} from "./tab_steps.js";
import {createViewer} from "./viewer.js";

const PLACES = ["run", "other", "sentence", "alignment", "overview"]; // to load
const LINK_DELAY = 300; // ms: browsers refuse an address that changes all the time

/** `reload()` looks for new data, `follow(link)` goes where a link points. */
export function createTab(body) {
  const names = ["runs", "notice", "list", "steps", "overview", "figure", "page"];
  const parts = names.map((name) => part(`tab-${name}`));
  const [bar, notice, list, strip, grid, figure, page] = parts;
  const help = helpDialog();
  const main = part("tab-main", strip, grid, figure, page);
  body.classList.add("attention-viewer", "tab"); // with the viewer's colours and type
  body.append(bar, list, main, help);

  const viewer = createViewer(figure);
  const runsView = createRuns(bar, change);
  const alignments = createAlignments(bar, change);
  bar.append(notice, button("?", () => help.showModal(), {title: "Help and keys"}));
  const sentences = createSentences(list, change);
  const steps = createSteps(strip, change);
  const overview = createOverview(grid, change);
  viewer.onchange = change;

  const start = {...START, ...viewer.options};
  let state = start; // what the user chose; the log may not have it
  let runs = {}; // as of `fetchRuns`
  let choice = choose(runs, state);
  let series = []; // of the sentence: in the run, and in the other one
  let layers = []; // the series of the overview
  let history = new Map(); // the metrics of all sentences of the run
  let [drawing, linking] = [0, 0]; // what is due

  async function reload() {
    try {
      runs = await fetchRuns();
    } catch (error) {
      return fail(error);
    }
    return load();
  }

  async function load() {
    const asked = choose(runs, state);
    if (asked.run !== choice.run) history = new Map();
    choice = asked;
    body.classList.toggle("tab-empty", !choice.run);
    if (!choice.run) return showPage(noDataPage());
    runsView.update(choice);
    alignments.update(choice.alignments, choice.alignment, state.overview);
    notice.textContent = choice.missing.map((what) => `There is no ${what}.`).join(" ");
    const about = runs[choice.run];
    const metrics = fetchMetrics(choice.run, about.tables, about.sentences);
    try {
      const wanted = state.overview ? choice.layers : [];
      const found = [fetchSeries(choice.shown), fetchLayers(wanted)];
      const both = await Promise.all(found);
      if (asked !== choice) return null; // only the last question counts
      [series, layers] = both;
      draw();
      sentences.reveal();
      const known = await metrics;
      if (asked !== choice) return null;
      history = known;
      return draw();
    } catch (error) {
      return asked === choice && fail(error);
    }
  }

  function draw() {
    drawing = 0;
    if (!series.length) return null;
    if (Object.keys(viewer.options).some((key) => viewer.options[key] !== state[key])) {
      viewer.set(state);
      state = {...state, ...viewer.options}; // it knows what makes no sense
    }
    const {run, other: otherName, list, alignment, sentence: {tag}} = choice;
    const entries = [...history.values(), ...series.map((one) => one.steps)].flat();
    const keys = Object.keys(METRICS).filter((key) =>
      entries.some(({metrics}) => key in (metrics ?? {})),
    );
    const metric = keys.includes(state.metric) ? state.metric : keys[0];
    const known = list.map((sentence) => {
      const entry = entryAt(history.get(sentence.tag), state.step);
      return {...sentence, metrics: entry?.metrics};
    });
    sentences.update(known, keys, {...state, metric, sentence: tag});
    const mine = entryAt(series[0].steps, state.step);
    if (!mine) return fail(new Error("This sentence has no steps yet. Reload later."));
    const theirs = entryAt(series[1]?.steps, mine.step);
    const has = (key) => series[0].steps.some(({metrics}) => key in (metrics ?? {}));
    steps.update(series, [mine, theirs], has(metric) ? metric : keys.find(has));
    if (mine.error) return fail(new Error(mine.error));
    const other = theirs && !theirs.error ? {...series[1], ...theirs} : null;
    const name = other || !alignment ? run : `${run} ${alignment}`; // of a file
    viewer.show({...series[0], ...mine}, {name, other, otherName});
    overview.show(layers.map((one) => layerAt(one, mine)), viewer.options, alignment);
    return showPage([]);
  }

  function layerAt(one, {step}) {
    const entry = entryAt(one.steps, step);
    const picture = entry && !entry.error ? {...one, ...entry} : null;
    return {name: one.name, picture};
  }

  function fail(error) {
    steps.stop();
    showPage(failurePage(error, reload));
  }

  function showPage(content) {
    main.classList.toggle("tab-has-page", content.length > 0);
    page.replaceChildren(...content);
  }

  // Changes --------------------------------------------------------------------------

  function change(changes) {
    const isElsewhere = PLACES.some(
      (key) => key in changes && changes[key] !== state[key],
    );
    state = {...state, ...changes};
    if (isElsewhere) load();
    else drawing ||= requestAnimationFrame(draw);
    clearTimeout(linking);
    linking = setTimeout(() => writeLink(linkOf(state, start)), LINK_DELAY);
  }

  function follow(link) {
    state = stateOf(link, start);
    return reload();
  }

  listenToKeys({
    ArrowLeft: () => steps.moveBy(-1),
    ArrowRight: () => steps.moveBy(1),
    Home: () => steps.moveBy(-Infinity),
    End: () => steps.moveBy(Infinity),
    " ": steps.toggle,
    ArrowUp: () => sentences.moveBy(-1),
    ArrowDown: () => sentences.moveBy(1),
    "/": sentences.focusFilter,
    "?": () => help.showModal(),
    w: () => change({unit: state.unit === "word" ? "subword" : "word"}),
    g: () => change({gold: !state.gold}),
    l: alignments.nextLayer,
    a: alignments.nextKind,
  });

  return {reload, follow};
}
