/**
 * The way through training: a slider over the steps in the log, in front of the curve of
 * a metric, and buttons that move it.
 */

import {element, svgElement} from "./dom.js";
import {curvePath, fillSelect, iconButton, rangeOf, setIcon, shortNumber} from "./tab_dom.js";
import {metricOf} from "./tab_filter.js";

const SPEEDS = [1, 2, 5, 10, 20]; // steps a second

/** `onChange({step})`, where null is the last one, or `onChange({metric})`. */
export function createSteps(container, onChange) {
  let steps = []; // numbers, ascending
  let curves = []; // [{name, values: [one for each step]}]
  let shownAt = null; // when the player showed its last step; null: it rests

  const play = iconButton("play", "Play (space)", () => toggle());
  const speed = element("select", {title: "Speed of the player", "aria-label": "Speed"});
  fillSelect(speed, SPEEDS.map((count) => [count, `${count}/s`]), 5);
  const readout = element("output", {class: "tab-step"});
  const metric = element("select", {id: "tab-metric", "aria-label": "Metric"});
  metric.title = "Metric of the curves, here and in the table";
  metric.onchange = () => onChange({metric: metric.value});
  const values = element("span", {class: "tab-values"});
  const plot = svgElement("svg", {viewBox: "0 0 1000 100", preserveAspectRatio: "none"});
  const slider = element("input", {type: "range", min: 0, value: 0, "aria-label": "Step"});
  slider.oninput = () => moveTo(Number(slider.value));
  const [high, low, first, last] = ["", "", "", ""].map((text) => element("span", {}, text));
  container.append(
    element("div", {class: "tab-buttons"},
      element("span", {class: "tab-player"},
        iconButton("first", "First step (Home)", () => moveTo(0)),
        iconButton("previous", "One step back (←)", () => moveBy(-1)),
        play,
        iconButton("next", "One step on (→)", () => moveBy(1)),
        iconButton("last", "Last step (End)", () => moveTo(Infinity)),
        speed),
      readout, element("span", {class: "tab-space"}), metric, values),
    element("div", {class: "tab-strip"},
      element("div", {class: "tab-track"}, plot, slider),
      element("div", {class: "tab-scale"}, high, low)),
    element("div", {class: "tab-ends"}, first, last),
  );

  const index = () => Number(slider.value);

  function go(i) {
    const end = steps.length - 1;
    if (end >= 0) onChange({step: i >= end ? null : steps[Math.max(0, i)]});
  }

  function moveTo(i) {
    stop();
    go(i);
  }

  function moveBy(count) {
    moveTo(index() + count);
  }

  function stop() {
    shownAt = null;
    setIcon(play, "play", "Play (space)");
  }

  function toggle() {
    if (shownAt !== null || steps.length < 2) return stop();
    go(index() >= steps.length - 1 ? 0 : index() + 1);
    shownAt = performance.now();
    setIcon(play, "pause", "Pause (space)");
    requestAnimationFrame(onFrame);
  }

  // The player waits for frames, so that it rests while another tab is in front.
  function onFrame(now) {
    if (shownAt === null) return;
    if (now - shownAt >= 1000 / Number(speed.value)) {
      shownAt = now;
      go(index() + 1);
    }
    if (index() >= steps.length - 1) stop();
    else requestAnimationFrame(onFrame);
  }

  return {
    moveTo, moveBy, stop, toggle,
    /** The steps, and one curve of the metric for each run. */
    setCurves(newSteps, newCurves, key, keys) {
      [steps, curves] = [newSteps, newCurves];
      slider.max = Math.max(0, steps.length - 1);
      slider.disabled = steps.length < 2;
      first.textContent = steps.length > 1 ? steps[0] : "";
      last.textContent = steps.length > 1 ? steps.at(-1) : "";
      fillSelect(metric, keys.map((known) => [known, metricOf(known).label]), key);
      metric.hidden = keys.length === 0;
      const range = rangeOf(curves.flatMap((curve) => curve.values));
      const drawn = curves.map((curve) => curvePath(curve.values, range, 1000, 84));
      const any = drawn.some(Boolean) && steps.length > 1;
      [low.textContent, high.textContent] = any ? range.map(shortNumber) : ["", ""];
      const lines = drawn.map((d, i) =>
        svgElement("path", {class: `tab-curve tab-curve-${i}`, d, transform: "translate(0 8)"}),
      );
      plot.replaceChildren(...(any ? lines.reverse() : []));
    },
    /** The handle, with the entries of the run and of the other one. */
    setStep(i, mine, theirs) {
      const apart = theirs && theirs.step !== mine.step ? `, beside step ${theirs.step}` : "";
      const broken = theirs?.error ? ", which the other run cannot show" : apart;
      slider.value = i;
      slider.setAttribute("aria-valuetext", `step ${mine.step}`);
      readout.title = new Date(1000 * mine.wall_time).toLocaleString();
      readout.replaceChildren(
        "Step ", element("b", {}, String(mine.step)),
        element("small", {}, ` of ${steps.at(-1)}${broken}`),
      );
      const shown = curves.map((curve, k) => {
        const text = shortNumber(curve.values[i]);
        return element("b", {class: `tab-value-${k}`, title: curve.name}, text);
      });
      values.replaceChildren(...shown);
    },
  };
}
