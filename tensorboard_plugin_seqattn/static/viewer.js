/** One picture of attention, or two: the only door of the renderer. */

import {Beams} from "./beams.js";
import {NOWHERE, insideOf, movedBy} from "./crosshair.js";
import {element, themeOf} from "./dom.js";
import {DEFAULTS, withChanges} from "./options.js";
import {saveScene} from "./save.js";
import {notesOf, sceneOf} from "./scene.js";
import {Summary} from "./summary.js";
import {Toolbar} from "./toolbar.js";
import {Views} from "./views.js";

/** Draws into a container.
 *
 * `show(picture, {name, other, otherName})` draws a picture, or two to compare;
 * `set(options)` changes what is seen of it, `onchange(options)` tells that the reader
 * did; `destroy()` leaves the container empty.
 */
export function createViewer(container, options = {}) {
  return new Viewer(container, options);
}

class Viewer {
  constructor(container, options) {
    const choose = (changes) => this._choose(changes);
    this._options = withChanges(DEFAULTS, options);
    this.onchange = null;
    this._crosshair = this._pinned = NOWHERE;
    this._scene = null;
    this._toolbar = new Toolbar(choose, (format) => this._save(format));
    this._beams = new Beams((hypothesis) => choose({hypothesis}));
    this._views = new Views((at) => this._point(at), (head) => choose({head}));
    this._summary = new Summary();
    this._problem = element("p", {class: "av-problem", role: "alert", hidden: true});
    this._content = element("div", {class: "av-content"}, this._beams.node);
    this._content.append(...this._views.nodes, this._summary.node);
    this._content.addEventListener("keydown", (event) => this._key(event));
    this._content.addEventListener("click", (event) => this._pin(event));
    const parts = [this._toolbar.node, this._problem, this._content];
    this._container = container;
    this.node = element("div", {class: "attention-viewer", hidden: true}, ...parts);
    container.replaceChildren(this.node);
    this._observer = new MutationObserver(() => this._draw());
    this._observer.observe(document.documentElement, {attributeFilter: ["data-theme"]});
  }

  get options() {
    return {...this._options};
  }

  set(options) {
    this._options = withChanges(this._options, options);
    this._draw();
  }

  show(picture, about = {}) {
    this._picture = picture;
    this._about = about;
    this._draw();
  }

  destroy() {
    this._observer.disconnect();
    this._container.replaceChildren();
  }

  _draw() {
    if (!this._picture) return;
    this._scene = null;
    this.node.hidden = false;
    this._problem.hidden = true;
    try {
      const theme = themeOf(this.node);
      this._scene = sceneOf(this._picture, this._about, this._options, theme);
    } catch (error) {
      this._complain(`This picture cannot be drawn. ${error.message}`);
    }
    this._content.hidden = this._scene === null;
    if (this._scene) this._drawScene(this._scene);
  }

  _complain(message) {
    this._problem.textContent = message;
    this._problem.hidden = false;
  }

  _drawScene(scene) {
    const {panels: [first], chosen} = scene;
    this._toolbar.show(this._options, first);
    this._beams.show(first.picture.hypotheses, chosen);
    this._views.show(scene, this._options);
    const metrics = chosen === 0 ? first.picture.metrics : {}; // they are of the best
    this._summary.show(first.grid, metrics, notesOf(scene, this._options));
    this._pinned = this._kept(this._pinned);
    this._crosshair = this._kept(this._crosshair); // the pointer rests, a slider moves
    this._views.mark(this._crosshair);
  }

  /** A crosshair where it was, as far as the new scene reaches. */
  _kept(at) {
    const {panels} = this._scene;
    const panel = Math.min(at.panel, panels.length - 1);
    return insideOf({...at, panel}, panels[panel].grid);
  }

  // What the reader does -------------------------------------------------------------

  _choose(changes) {
    this.set(changes);
    this.onchange?.(this.options);
  }

  /** The pointer is somewhere, or if it is null has left. */
  _point(at) {
    this._crosshair = at ?? this._pinned;
    this._views.mark(this._crosshair);
  }

  /** A click keeps the crosshair where it is, a second one there lets it go. */
  _pin(event) {
    if (!event.target.closest(".av-focus")) return;
    const same = ["row", "column", "panel"].every(
      (name) => this._pinned[name] === this._crosshair[name],
    );
    this._pinned = same ? NOWHERE : this._crosshair;
  }

  _key(event) {
    const moves = event.target.closest(".av-focus");
    if (!moves || event.altKey || event.ctrlKey || event.metaKey) return;
    const {grid} = this._scene.panels[this._pinned.panel];
    const moved = movedBy(event.key, this._crosshair, grid);
    if (!moved) return;
    event.preventDefault();
    event.stopPropagation();
    this._crosshair = this._pinned = moved;
    this._views.mark(moved, true);
  }

  _save(format) {
    if (!this._scene) return;
    saveScene(this._scene, this._options, format).catch((error) => {
      this._complain(`Nothing was saved. ${error.message}`);
    });
  }
}
