/** The buttons above the views: options, and saving. */

import {button, element, part} from "./dom.js";

/** `onSet(changes)` gets changed options, `onSave(format)` "svg", "png", ... */
export function createToolbar(onSet, onSave) {
  const choiceOf = (option, names) =>
    Object.entries(names).map(([value, name]) =>
      button(name, () => onSet({[option]: value}), {value}),
    );
  const units = choiceOf("unit", {subword: "Tokens", word: "Words"});
  const views = {all: "All", heat: "Heat map", links: "Links", reading: "Reading"};
  const choices = {unit: units, view: choiceOf("view", views)};
  const groups = Object.values(choices).map((buttons) =>
    element("span", {class: "av-choice", role: "group"}, ...buttons),
  );
  const gold = element("input", {
    type: "checkbox",
    onchange: () => onSet({gold: gold.checked}),
  });
  const goldLabel = element("label", {}, gold, " Gold links");
  const files = ["SVG", "PNG", "CSV", "JSON"].map((name) =>
    button(name, () => onSave(name.toLowerCase())),
  );
  const save = element("span", {class: "av-save"}, "Save ", ...files);

  return {
    node: part("av-toolbar", ...groups, goldLabel, save),

    /** Shows the options; a panel of a scene decides which of them exist. */
    show(options, {picture, hasGold}) {
      for (const [option, buttons] of Object.entries(choices)) {
        for (const one of buttons) one.ariaPressed = one.value === options[option];
      }
      goldLabel.hidden = !picture.gold;
      goldLabel.title = hasGold ? "" : "Gold links belong to the reference.";
      gold.disabled = !hasGold;
      gold.checked = hasGold && options.gold;
    },
  };
}
