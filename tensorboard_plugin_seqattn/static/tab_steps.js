/** A slider over the training steps, below the curve of a metric. */

import {button, element, numberText, part, refill, svgElement} from "./dom.js";
import {METRICS, metricName} from "./measures.js";
import {entryAt} from "./tab_choice.js";
import {explained} from "./tooltip.js";

const PACE = 200; // ms from step to step

/** `onChange({step})`, where null is the last one. */
export function createSteps(container, onChange) {
  let steps = []; // numbers, ascending
  let timer = 0; // of the player

  const play = button("Play", toggle, {title: "Space"});
  const readout = element("output", {class: "tab-step"});
  const [name, numbers] = [element("span"), element("span")];
  const values = element("span", {class: "tab-values"}, name, numbers);
  const plot = svgElement("svg", {viewBox: "0 0 1 1", preserveAspectRatio: "none"});
  const slider = element("input", {
    ...{type: "range", min: 0, value: 0, "aria-label": "Step"},
    oninput: () => moveBy(0),
  });
  const track = part("tab-track", plot, slider);
  container.append(part("tab-buttons", play, readout, values), track);

  const at = () => Number(slider.value);
  const isEnd = () => at() >= steps.length - 1;

  function go(i) {
    if (!steps.length) return;
    onChange({step: i >= steps.length - 1 ? null : steps[Math.max(0, i)]});
  }

  function moveBy(count) {
    stop();
    go(at() + count);
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  }

  function toggle() {
    if (timer) return stop();
    if (isEnd()) go(0);
    play.textContent = "Pause";
    timer = setInterval(() => (isEnd() ? stop() : go(at() + 1)), PACE);
    return timer;
  }

  return {
    ...{moveBy, stop, toggle},

    /** The series of the run and of the other one, their entries, and a metric. */
    update(series, [mine, theirs], metric) {
      steps = series[0].steps.map(({step}) => step);
      const i = steps.indexOf(mine.step);
      slider.max = steps.length - 1;
      slider.value = i;
      slider.ariaValueText = `Step ${mine.step}`;
      slider.disabled = steps.length < 2;
      const isApart = theirs && theirs.step !== mine.step;
      const apart = isApart ? `, beside step ${theirs.step}` : "";
      const note = theirs?.error ? ", which the other run cannot show" : apart;
      const last = element("small", {}, ` of ${steps.at(-1)}${note}`);
      readout.replaceChildren("Step ", element("b", {}, String(mine.step)), last);
      const curves = series.map((one) =>
        steps.map((step) => entryAt(one.steps, step)?.metrics?.[metric]),
      );
      plot.replaceChildren(...pathsOf(curves));
      const shown = curves.map((curve, k) =>
        element("b", {class: `tab-run-${k}`}, ` ${numberText(curve[i])}`),
      );
      refill(name, metric ?? "", () => (metric ? [nameOf(metric)] : []));
      numbers.replaceChildren(...shown);
    },
  };
}

function nameOf(metric) {
  return explained(element("span", {}, metricName(metric)), METRICS[metric]);
}

/** Lines through the values, from 0 to the largest; a gap where none is. */
function pathsOf(curves) {
  const most = Math.max(...curves.flat().filter(Number.isFinite)) || 1;
  return curves.map((values, k) => {
    const points = values.map((value, i) => {
      if (!Number.isFinite(value)) return "";
      const pen = Number.isFinite(values[i - 1]) ? "L" : "M";
      const x = i / Math.max(1, values.length - 1);
      return `${pen}${x} ${1 - value / most}`;
    });
    return svgElement("path", {class: `tab-run-${k}`, d: points.join("")});
  });
}
