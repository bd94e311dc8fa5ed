/** The tab: its parts, the state that they share, the data that they show. */

import {element} from "./dom.js";
import {fetchMetrics, fetchRuns, fetchSeries} from "./tab_api.js";
import {choose, curveOf, entriesAt, pictureOf, sentencesOf, twinOf} from "./tab_choice.js";
import {iconButton} from "./tab_dom.js";
import {metricKeys} from "./tab_filter.js";
import {failurePage, helpDialog, noDataPage} from "./tab_help.js";
import {writeLink} from "./tab_host.js";
import {listenToKeys} from "./tab_keys.js";
import {createRuns} from "./tab_runs.js";
import {TabState} from "./tab_state.js";
import {createSteps} from "./tab_steps.js";
import {createTable} from "./tab_table.js";
import {createViewer} from "./viewer.js";

const LINK_DELAY = 300; // ms: browsers refuse an address that changes all the time

/** `reload()` looks for new data, `follow(link)` goes where a link points. */
export function createTab(body) {
  const {runsBar, notice, list, main, stepsBar, figure, page, help} = createParts(body);
  const viewer = createViewer(figure);
  const state = new TabState(viewer.options, onState);
  const change = (changes) => state.set(changes);
  const runsView = createRuns(runsBar, changeRuns);
  const table = createTable(list, change);
  const steps = createSteps(stepsBar, change);
  viewer.onchange = change;

  let runs = {}; // as of `fetchRuns`
  let choice = choose(runs, state.now);
  let series = []; // of the sentence: in the run, and in the other one
  let histories = []; // metrics of all sentences: the same
  let tabled = []; // what was known of these runs then
  let keys = []; // of the metrics in all of this
  let [drawing, linking] = [0, 0]; // what is due

  // Data -------------------------------------------------------------------------------

  const [latestRuns, latestMetrics, latestSeries] = [latest(), latest(), latest()];

  function reload() {
    return latestRuns(fetchRuns(), (found) => {
      runs = found;
      return load();
    }, (error) => (series.length ? say(error.message) : fail(error)));
  }

  function load() {
    choice = choose(runs, state.now);
    body.classList.toggle("tab-empty", choice.run === "");
    if (choice.run === "") return showPage(noDataPage());
    runsView.update(choice);
    say(choice.missing.map((what) => `There is no ${what} in this log.`).join(" "));
    return Promise.all([loadSeries(choice.sentences), loadMetrics()]);
  }

  function loadSeries(chosen) {
    const wanted = chosen.map(({run, sentence}) => fetchSeries(run, sentence));
    main.classList.add("tab-waiting");
    return latestSeries(Promise.all(wanted), (found) => {
      series = found.map((one, i) => ({...one, run: chosen[i].run}));
      keys = metricKeys([...histories, ...series.map(({steps: entries}) => [entries])]);
      drawCurves();
      draw();
    }, fail);
  }

  function loadMetrics() {
    const names = [choice.run, choice.other].filter(Boolean);
    const about = names.map((name) => [name, runs[name]]);
    if (JSON.stringify(about) === JSON.stringify(tabled)) return null; // nothing is new
    if (names.join() !== tabled.map(([name]) => name).join()) histories = [];
    tabled = about;
    drawTable(); // with the sentences, at once
    const wanted = about.map(([name, {tables}]) => fetchMetrics(name, tables));
    return latestMetrics(Promise.all(wanted), (found) => {
      histories = found;
      keys = metricKeys([...histories, ...series.map(({steps: entries}) => [entries])]);
      drawTable();
      drawCurves();
    }, (error) => {
      tabled = [];
      say(error.message);
    });
  }

  // Drawing ----------------------------------------------------------------------------

  /** The state as it is shown: with what there is in the place of what is not. */
  function shown() {
    const metric = keys.includes(state.now.metric) ? state.now.metric : keys[0];
    return {...state.now, metric, sentence: choice.sentences[0]?.sentence.tag};
  }

  function drawTable() {
    table.update(new Set(), shown());
    table.setData(sentencesOf(runs, choice.run), histories, metricKeys(histories));
  }

  function drawCurves() {
    if (!series.length) return;
    const {metric} = shown();
    const numbers = series[0].steps.map(({step}) => step);
    steps.setCurves(numbers, series.map((one) => curveOf(one, metric, numbers)), metric, keys);
    setStep();
  }

  function setStep() {
    const [mine, theirs] = entriesAt(series, state.now.step);
    if (mine) steps.setStep(series[0].steps.indexOf(mine), mine, theirs);
  }

  function draw() {
    drawing = 0;
    if (!series.length) return;
    setStep();
    const [mine, theirs] = entriesAt(series, state.now.step);
    if (!mine || mine.error) return fail(new Error(mine?.error ?? "It has no steps."));
    const other = theirs && !theirs.error ? pictureOf(series[1], theirs) : undefined;
    const about = {name: series[0].run, other, otherName: series[1]?.run};
    viewer.show(pictureOf(series[0], mine), about);
    return showPage(null);
  }

  function fail(error) {
    steps.stop();
    showPage(failurePage(error, reload));
  }

  function say(text) {
    notice.textContent = text;
  }

  function showPage(content) {
    main.classList.remove("tab-waiting");
    main.classList.toggle("tab-has-page", content !== null);
    page.replaceChildren(...(content ? [content] : []));
  }

  // Changes ----------------------------------------------------------------------------

  function onState(changed) {
    const has = (...keys) => keys.some((key) => changed.has(key));
    if (has("run", "other", "sentence")) load();
    else if (has("step")) drawing ||= requestAnimationFrame(draw);
    if (has("metric")) drawCurves();
    const {options} = state;
    if (Object.keys(options).some((key) => options[key] !== viewer.options[key])) {
      viewer.set(options);
      state.set(viewer.options); // which knows what makes no sense
    }
    table.update(changed, shown());
    clearTimeout(linking);
    linking = setTimeout(() => writeLink(state.link), LINK_DELAY);
  }

  /** To the same sentence in the other run, whatever its tag is there. */
  function changeRuns(changes) {
    const [here] = choice.sentences;
    const twin = twinOf(here.sentence, runs[changes.run ?? choice.run].sentences);
    change({...changes, sentence: twin?.tag ?? state.now.sentence});
  }

  function follow(link) {
    state.follow(link);
    return reload();
  }

  const flip = (key, [a, b]) => () => change({[key]: state.now[key] === a ? b : a});
  const view = (name) => () => change({view: name});
  listenToKeys({
    ArrowLeft: () => steps.moveBy(-1),
    ArrowRight: () => steps.moveBy(1),
    Home: () => steps.moveTo(0),
    End: () => steps.moveTo(Infinity),
    " ": () => steps.toggle(),
    ArrowUp: () => table.moveBy(-1),
    ArrowDown: () => table.moveBy(1),
    "/": () => table.focusFilter(),
    "?": () => help.showModal(),
    c: () => runsView.toggle(),
    w: flip("unit", ["word", "subword"]),
    g: flip("gold", [true, false]),
    b: nextHypothesis,
    1: view("all"),
    2: view("heat"),
    3: view("links"),
    4: view("reading"),
  });

  function nextHypothesis() {
    const count = entriesAt(series, state.now.step)[0]?.hypotheses?.length;
    if (count) change({hypothesis: (state.now.hypothesis + 1) % count});
  }

  return {reload, follow};
}

function createParts(body) {
  const part = (name, tag = "div") => element(tag, {class: `tab-${name}`});
  const parts = {
    runsBar: part("runs"), notice: part("notice", "p"), list: part("list", "aside"),
    main: part("main", "main"), stepsBar: part("steps"), figure: part("figure"),
    page: part("page"), help: helpDialog(),
  };
  const {runsBar, notice, list, main, stepsBar, figure, page, help} = parts;
  const helpButton = iconButton("help", "Help and keys (?)", () => help.showModal());
  notice.setAttribute("role", "status");
  main.append(stepsBar, figure, page);
  body.classList.add("attention-viewer", "tab"); // with the viewer's colours and type
  body.append(
    element("header", {class: "tab-bar"}, runsBar, notice, helpButton), list, main, help,
  );
  return parts;
}

/** Of several questions only the answer to the last one is used. */
function latest() {
  let count = 0;
  return async (question, use, fail) => {
    const mine = ++count;
    try {
      const answer = await question;
      if (mine === count) await use(answer);
    } catch (error) {
      if (mine === count) fail(error);
    }
  };
}
