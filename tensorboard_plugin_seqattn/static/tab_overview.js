/** All heads of all layers of one kind of attention, a row of tiles for each layer. */

import {element, part, refill} from "./dom.js";
import {createHeads} from "./heads.js";
import {headsOf, sceneOf} from "./scene.js";
import {layerOf} from "./tab_alignments.js";

/** `onChange({alignment, head})` when the user chooses a tile. */
export function createOverview(container, onChange) {
  let rows = []; // [heads, name of the alignment]
  let last = null;
  const observer = new MutationObserver(() => last && show(last));
  observer.observe(document.documentElement, {attributeFilter: ["data-theme"]});

  function rowOf(name) {
    const heads = createHeads(
      (head) => onChange({alignment: name, head}),
      (at) => rows.forEach(([each]) => each.mark(at ?? {row: null, column: null})),
    );
    rows.push([heads, name]);
    const title = element("h2", {class: "av-title"}, layerOf(name));
    return part("tab-layer", title, heads.node);
  }

  function show({pictures, options, chosen}) {
    last = {pictures, options, chosen};
    container.hidden = !pictures.length;
    refill(container, pictures.map(({name}) => name), () => {
      rows = [];
      return pictures.map(({name}) => rowOf(name));
    });
    const {theme} = document.documentElement.dataset;
    rows.forEach(([heads, name], i) => {
      const {picture} = pictures[i];
      heads.node.hidden = !picture;
      if (!picture) return;
      const [panel] = sceneOf(picture, {}, options, theme).panels;
      const all = headsOf(panel, options.unit);
      const head = name === chosen ? panel.head : null;
      heads.show({heads: all, scale: panel.scale, chosen: head});
      heads.mark({row: null, column: null});
    });
  }

  return {
    /** `{name, picture}` of each layer, none to hide the overview; a layer without a
     * picture at this step is null. `options` of the viewer, and the chosen name. */
    show(pictures, options, chosen) {
      show({pictures, options, chosen});
    },
  };
}
