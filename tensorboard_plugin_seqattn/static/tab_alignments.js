/** The choice of a kind of attention and of a layer, for models that have several. */

import {button, element} from "./dom.js";
import {explained} from "./tooltip.js";

/** What looks at what: the first is the kind of the alignment that a search returns. */
const KINDS = {
  "target source": "from target to source",
  "source source": "within the source",
  "target target": "within the target",
};
const [CROSS] = Object.keys(KINDS);
const SEARCHED = {name: "", rows: "target", columns: "source"};
const HELP =
  "Of which layer the alignment is. The model's choice is the one that it returns: " +
  "by default the mean of the last layer.";

const kindOf = ({rows, columns}) => `${rows} ${columns}`;

/** The last part of a name: "layer 1" of "decoder/self/layer 1". */
export function layerOf(name) {
  return name.split("/").at(-1) || "the model’s choice";
}

/** The alignments of the same kind as the chosen one; undefined: of a search. */
export function sameKind(alignments, chosen = SEARCHED) {
  return alignments.filter((one) => kindOf(one) === kindOf(chosen));
}

/** `onChange` gets the name of an `alignment`, "" of the one of a search, and whether
 * an `overview` of all layers is wanted. */
export function createAlignments(container, onChange) {
  const kind = element("select", {id: "tab-kind", onchange: () => goTo(kind.value)});
  const layer = element("select", {
    id: "tab-layer",
    onchange: () => onChange({alignment: layer.value}),
  });
  const labels = [
    element("label", {}, "Attention ", kind),
    element("label", {}, "Layer ", explained(layer, HELP)),
  ];
  const overview = button("All layers", () => onChange({overview: !isOpen}));
  container.append(...labels, overview);
  let isOpen = false;
  let all = [SEARCHED];
  let chosen = SEARCHED;

  const inKind = (wanted) => all.filter((one) => kindOf(one) === wanted);
  const option = (value, text) => element("option", {value}, text);
  const layerOption = ({name}) => option(name, layerOf(name));

  /** The same layer in another kind, or the last one there. */
  function goTo(wanted) {
    const there = inKind(wanted);
    const same = there.find((one) => layerOf(one.name) === layerOf(chosen.name));
    const other = wanted === CROSS ? there[0] : there.at(-1);
    onChange({alignment: (same ?? other).name});
  }

  function after(list, one) {
    return list[(list.indexOf(one) + 1) % list.length];
  }

  return {
    /** The alignments `{name, rows, columns}` of a sentence, the chosen name, and
     * whether the overview is open. */
    update(alignments, name, hasOverview) {
      isOpen = hasOverview;
      overview.ariaPressed = isOpen;
      all = [SEARCHED, ...alignments];
      chosen = all.find((one) => one.name === name) ?? SEARCHED;
      const kinds = Object.keys(KINDS).filter((one) => inKind(one).length);
      const layers = inKind(kindOf(chosen));
      kind.replaceChildren(...kinds.map((one) => option(one, KINDS[one])));
      layer.replaceChildren(...layers.map(layerOption));
      [kind.value, layer.value] = [kindOf(chosen), chosen.name];
      kind.disabled = kinds.length < 2;
      layer.disabled = layers.length < 2;
      for (const node of [...labels, overview]) node.hidden = all.length < 2;
    },

    nextLayer() {
      if (all.length > 1) {
        onChange({alignment: after(inKind(kindOf(chosen)), chosen).name});
      }
    },

    nextKind() {
      const kinds = [...kind.options].map(({value}) => value);
      if (kinds.length > 1) goTo(after(kinds, kindOf(chosen)));
    },
  };
}
