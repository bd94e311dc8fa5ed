/** All views of a scene, and the crosshair in all of them. */

import {insideOf} from "./crosshair.js";
import {element} from "./dom.js";
import {Heads} from "./heads.js";
import {HeatMap} from "./heatmap.js";
import {Links} from "./links.js";
import {Reading} from "./reading.js";
import {headGrids, seenOf} from "./scene.js";
import {Readout, legendOf} from "./summary.js";

export class Views {
  /** `onPoint` gets `{row, column, panel}` or null, `onHead` a head that was chosen. */
  constructor(onPoint, onHead) {
    const pointing = (panel) => (at) => onPoint(at && {...at, panel});
    const two = (View) => [0, 1].map((panel) => new View(pointing(panel)));
    this.heads = new Heads(onHead, pointing(0));
    this.readout = new Readout();
    this.readings = two(Reading);
    this.heats = two(HeatMap);
    this.links = two(Links);
    this.signed = new HeatMap(pointing(0));
    this.reason = element("p", {class: "av-reason"});
    this.legends = element("div", {class: "av-legends"});
    const nodes = (views) => views.map(({node}) => node);
    const difference = [this.signed.node, this.reason];
    const maps = [...nodes(this.heats), ...difference, ...nodes(this.links)];
    this.nodes = [
      element("div", {class: "av-readings"}, ...nodes(this.readings)),
      this.readout.node,
      this.readout.live,
      this.heads.node,
      element("div", {class: "av-stage"}, ...maps),
      this.legends,
    ];
    this.shown = []; // [view, number of its panel]
  }

  show(scene, options) {
    const {panels, difference, reason} = scene;
    const seen = seenOf(scene, options);
    this.scene = scene;
    this.shown = [];
    [0, 1].forEach((i) => {
      this._show(this.readings[i], seen.reading && panels[i], i);
      this._show(this.heats[i], seen.heat && panels[i], i);
      this._show(this.links[i], seen.links && panels[i], i);
    });
    this._show(this.signed, seen.heat && difference, 0);
    this.reason.hidden = !seen.heat || !reason;
    this.reason.textContent = reason;
    this.heads.node.hidden = !seen.heads;
    if (seen.heads) {
      const chosen = seen.largeHeads ? "all" : panels[0].head;
      this.heads.show(headGrids(panels[0], options.unit), panels[0].scale, chosen);
      this.shown.push([this.heads, 0]);
    }
    this.legends.replaceChildren(
      legendOf(panels[0].scale, "weight"),
      ...(difference ? [legendOf(difference.scale, difference.title)] : []),
    );
  }

  _show(view, panel, number) {
    view.node.hidden = !panel;
    if (!panel) return;
    view.show(panel, {isAlone: this.scene.panels.length === 1});
    this.shown.push([view, number]);
  }

  /** Moves the crosshair; `speak`: by a key, so say where it is, and bring it there. */
  mark(crosshair, speak = false) {
    for (const [view, number] of this.shown) {
      view.mark(insideOf(this._carried(crosshair, number), this._grid(number)), speak);
    }
    const read = ({title, grid}, number) => {
      return {title, grid, at: insideOf(this._carried(crosshair, number), grid)};
    };
    const {panels} = this.scene;
    if (crosshair.of) this.readout.show([read(crosshair.of, 0)], 0); // one of the heads
    else this.readout.show(panels.map(read), crosshair.panel, speak);
  }

  _grid(number) {
    return this.scene.panels[number].grid;
  }

  /** The same words in the other panel, if it has the same. */
  _carried({row, column, panel}, number) {
    if (panel === number) return {row, column};
    const [here, there] = [this._grid(panel), this._grid(number)];
    const same = (side) =>
      here[side].length === there[side].length &&
      here[side].every(({text}, i) => text === there[side][i].text);
    return {row: same("rows") ? row : null, column: same("columns") ? column : null};
  }
}
