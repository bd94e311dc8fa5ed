/** The viewer of one or two pictures, and the interface of the renderer. */

import {createBeams} from "./beams.js";
import {NOWHERE, insideOf, movedBy} from "./crosshair.js";
import {element, part} from "./dom.js";
import {saveScene} from "./files.js";
import {DEFAULTS, withChanges} from "./options.js";
import {notesOf, sceneOf} from "./scene.js";
import {createSummary} from "./summary.js";
import {createToolbar} from "./toolbar.js";
import {createViews} from "./views.js";

/** Draws into a container.
 *
 * `show(picture, {name, other, otherName})` draws a picture, or two to compare;
 * `set(options)` changes what is seen of it, `onchange(options)` tells that the reader
 * did; `destroy()` leaves the container empty.
 */
export function createViewer(container, changes = {}) {
  let options = withChanges(DEFAULTS, changes);
  let [picture, about, scene] = [null, {}, null];
  let [crosshair, pinned] = [NOWHERE, NOWHERE];
  let width = 0; // of the last drawing

  const toolbar = createToolbar(choose, save);
  const beams = [
    createBeams((hypothesis) => choose({hypothesis, otherHypothesis: null})),
    createBeams((otherHypothesis) => choose({otherHypothesis})),
  ];
  const lists = part("av-side-by-side", ...beams.map((list) => list.node));
  const views = createViews(point, (head) => choose({head}));
  const summary = createSummary();
  const problem = element("p", {class: "av-problem", role: "alert"});
  const content = part("av-content", lists, ...views.nodes, summary.node);
  const node = part("attention-viewer", toolbar.node, problem, content);
  content.onkeydown = onKey;
  content.onclick = pin;
  node.hidden = true;
  container.replaceChildren(node);
  const observer = new MutationObserver(draw);
  observer.observe(document.documentElement, {attributeFilter: ["data-theme"]});
  const resizes = new ResizeObserver(() => node.clientWidth !== width && draw());
  resizes.observe(node);

  function draw() {
    if (!picture) return;
    node.hidden = false;
    width = node.clientWidth;
    problem.textContent = "";
    const {theme} = document.documentElement.dataset;
    try {
      scene = sceneOf(picture, about, options, theme === "dark" ? "dark" : "light");
      drawScene();
    } catch (error) {
      scene = null;
      problem.textContent = `This picture cannot be drawn. ${error.message}`;
    }
    content.hidden = scene === null;
  }

  function drawScene() {
    const {panels} = scene;
    content.hidden = false; // its width is the room of the views
    toolbar.show(options, panels[0]);
    beams.forEach((list, i) => list.show(panels[i], panels.length === 1));
    views.show(scene, options);
    summary.show(panels, notesOf(scene, options));
    // The pointer rests while a slider moves.
    [crosshair, pinned] = [crosshair, pinned].map((at) => {
      const number = Math.min(at.panel, scene.panels.length - 1);
      return insideOf({...at, panel: number}, scene.panels[number].grid);
    });
    views.mark(crosshair);
  }

  // Actions of the reader ------------------------------------------------------------

  function set(newOptions) {
    options = withChanges(options, newOptions);
    draw();
  }

  function choose(newOptions) {
    set(newOptions);
    viewer.onchange?.({...options});
  }

  /** The pointer is somewhere, or if it is null has left. */
  function point(at) {
    crosshair = at ?? pinned;
    views.mark(crosshair);
  }

  /** A click keeps the crosshair where it is, a second one there lets it go. */
  function pin({target}) {
    if (!target.closest(".av-focus")) return;
    const keys = ["row", "column", "panel"];
    const isSame = keys.every((key) => pinned[key] === crosshair[key]);
    pinned = isSame ? NOWHERE : crosshair;
  }

  function onKey(event) {
    const {target, key, altKey, ctrlKey, metaKey} = event;
    if (!target.closest(".av-focus") || altKey || ctrlKey || metaKey) return;
    const moved = movedBy(key, crosshair, scene.panels[pinned.panel].grid);
    if (!moved) return;
    event.preventDefault();
    event.stopPropagation();
    crosshair = pinned = moved;
    views.mark(moved, true);
  }

  function save(format) {
    if (!scene) return;
    saveScene(scene, format, node).catch((error) => {
      problem.textContent = `Nothing was saved. ${error.message}`;
    });
  }

  const viewer = {
    show(newPicture, newAbout = {}) {
      [picture, about] = [newPicture, newAbout];
      draw();
    },
    set,
    get options() {
      return {...options};
    },
    onchange: null,
    destroy() {
      for (const one of [observer, resizes]) one.disconnect();
      container.replaceChildren();
    },
  };
  return viewer;
}
