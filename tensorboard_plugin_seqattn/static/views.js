/** All views of a scene, and their common crosshair. */

import {element, part} from "./dom.js";
import {createHeads} from "./heads.js";
import {createHeatMap} from "./heatmap.js";
import {fitsInto} from "./layout.js";
import {createLinks} from "./links.js";
import {createReading} from "./reading.js";
import {createReadout} from "./readout.js";
import {legendOf} from "./scale.js";
import {headsOf, seenOf} from "./scene.js";

const GAP = 24; // between views, as in viewer.css
const LINKS = 340; // pixels for the links beside a heat map
const HEIGHTS = [600, 460]; // for the cells of one map, of some
const READABLE = 18; // pixels of a cell; smaller ones get the whole width

/** `onPoint` gets `{row, column, panel}` or null, `onHead` a head that was chosen. */
export function createViews(onPoint, onHead) {
  const pointing = (panel) => (at) => onPoint(at && {...at, panel});
  const two = (createView) => [0, 1].map((panel) => createView(pointing(panel)));
  const [readings, heats, links] = [createReading, createHeatMap, createLinks].map(two);
  const signed = createHeatMap(pointing(0));
  const heads = createHeads(onHead, pointing(0));
  const views = [...readings, ...heats, ...links, signed, heads];
  const readout = createReadout();
  const reason = element("p", {class: "av-reason"});
  const legends = part("av-legends");
  const maps = [...heats, signed].map(({node}) => node);
  const stage = part("av-stage", ...maps, reason, ...links.map(({node}) => node));
  let scene = null;
  let shown = []; // [view, number of its panel]

  /** The same tokens in the other panel, if they are there. */
  function carried({row, column, panel}, number) {
    const [here, there] = [panel, number].map((n) => scene.panels[n].grid);
    const same = (side, at) =>
      here[side][at] && here[side][at].text === there[side][at]?.text ? at : null;
    return {row: same("rows", row), column: same("columns", column)};
  }

  /** Texts show the attention of their first token until the reader points. */
  function firstOf(number) {
    return {row: scene.panels[number].grid.rows.length ? 0 : null, column: null};
  }

  function showLegends({panels: [{scale}], difference}) {
    const weight = scale.most > 1 ? "weight, scaled by the largest" : "weight";
    const about = difference ? [legendOf(difference.scale), difference.title] : [];
    legends.replaceChildren(legendOf(scale), weight, ...about);
  }

  return {
    nodes: [
      part("av-readings", ...readings.map(({node}) => node)),
      readout.node,
      heads.node,
      stage,
      legends,
    ],

    show(newScene, options) {
      scene = newScene;
      const {panels, difference} = scene;
      const seen = seenOf(scene, options);
      const [{scale, head: chosen}] = panels;
      const all = () => ({heads: headsOf(panels[0], options.unit), scale, chosen});
      const places = [
        [heads, seen.heads && all(), 0],
        ...panels.map((panel, i) => [readings[i], seen.reading && panel, i]),
        ...panels.map((panel, i) => [heats[i], seen.heat && panel, i]),
        [signed, seen.heat && difference, 0],
        ...panels.map((panel, i) => [links[i], seen.links && panel, i]), // what is left
      ].filter(([, panel]) => panel);
      shown = places.map(([view, , number]) => [view, number]);
      const drawn = shown.map(([view]) => view);
      for (const view of views) view.node.hidden = !drawn.includes(view);
      reason.textContent = seen.heat && scene.reason ? scene.reason : "";
      const room = roomOf(stage.clientWidth, scene, seen);
      for (const [view, panel] of places) view.show(panel, panels.length === 1, room);
      showLegends(scene);
    },

    /** Moves the crosshair; by a key, it is brought into view, too. */
    mark(crosshair, isKey = false) {
      const isResting = crosshair.row === null && crosshair.column === null;
      for (const [view, number] of shown) {
        const isFirst = isResting && readings.includes(view);
        view.mark(isFirst ? firstOf(number) : carried(crosshair, number), isKey);
      }
      const isFirst = isResting && shown.some(([view]) => readings.includes(view));
      const place = isFirst ? {...firstOf(0), panel: 0} : crosshair;
      const read = ({title, grid}, n) => {
        const name = scene.panels.length > 1 ? title : "";
        return {name, grid, at: carried(place, n)};
      };
      readout.show(scene.panels.map(read), place.panel, isResting);
    },
  };
}

/** The room of each heat map: beside the others and the links, if the cells fit. */
function roomOf(width, {panels, difference}, {links}) {
  if (panels.length === 1) {
    const beside = width - LINKS - GAP;
    const isBeside = links && fitsInto(panels[0].grid, beside, READABLE);
    return {width: isBeside ? beside : width, height: HEIGHTS[0]};
  }
  const fits = (room) => panels.every(({grid}) => fitsInto(grid, room));
  const shares = [difference ? 3 : 2, 2].map((n) => (width - GAP * (n - 1)) / n);
  return {width: shares.find(fits) ?? width, height: HEIGHTS[1]};
}
