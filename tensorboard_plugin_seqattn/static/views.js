/** All views of a scene, and their common crosshair. */

import {element, part} from "./dom.js";
import {createHeads} from "./heads.js";
import {createHeatMap} from "./heatmap.js";
import {createLinks} from "./links.js";
import {createReading} from "./reading.js";
import {legendOf} from "./scale.js";
import {headsOf, seenOf} from "./scene.js";
import {createReadout} from "./summary.js";

/** `onPoint` gets `{row, column, panel}` or null, `onHead` a head that was chosen. */
export function createViews(onPoint, onHead) {
  const pointing = (panel) => (at) => onPoint(at && {...at, panel});
  const two = (createView) => [0, 1].map((panel) => createView(pointing(panel)));
  const [readings, heats, links] = [createReading, createHeatMap, createLinks].map(two);
  const signed = createHeatMap(pointing(0));
  const heads = createHeads(onHead, pointing(0));
  const readout = createReadout();
  const reason = element("p", {class: "av-reason"});
  const legends = part("av-legends");
  const maps = [...heats, signed].map(({node}) => node);
  let scene = null;
  let shown = []; // [view, number of its panel]

  /** The same tokens in the other panel, if they are there. */
  function carried({row, column, panel}, number) {
    const [here, there] = [panel, number].map((n) => scene.panels[n].grid);
    const same = (side, at) =>
      here[side][at] && here[side][at].text === there[side][at]?.text ? at : null;
    return {row: same("rows", row), column: same("columns", column)};
  }

  return {
    nodes: [
      part("av-readings", ...readings.map(({node}) => node)),
      readout.node,
      heads.node,
      part("av-stage", ...maps, reason, ...links.map(({node}) => node)),
      legends,
    ],

    show(newScene, options) {
      scene = newScene;
      shown = [];
      const {panels, difference} = scene;
      const seen = seenOf(scene, options);
      const place = (view, panel, number) => {
        view.node.hidden = !panel;
        if (!panel) return;
        view.show(panel, panels.length === 1);
        shown.push([view, number]);
      };
      for (const i of [0, 1]) {
        place(readings[i], seen.reading && panels[i], i);
        place(heats[i], seen.heat && panels[i], i);
        place(links[i], seen.links && panels[i], i);
      }
      place(signed, seen.heat && difference, 0);
      const [{scale, head: chosen}] = panels;
      const all = () => ({heads: headsOf(panels[0], options.unit), scale, chosen});
      place(heads, seen.heads && all(), 0);
      reason.textContent = seen.heat && scene.reason ? scene.reason : "";
      const about = difference ? [legendOf(difference.scale), difference.title] : [];
      legends.replaceChildren(legendOf(scale), "weight", ...about);
    },

    /** Moves the crosshair; by a key, it is brought into view, too. */
    mark(crosshair, isKey = false) {
      for (const [view, number] of shown) view.mark(carried(crosshair, number), isKey);
      const read = ({title, grid}, n) => ({title, grid, at: carried(crosshair, n)});
      readout.show(scene.panels.map(read), crosshair.panel);
    },
  };
}
