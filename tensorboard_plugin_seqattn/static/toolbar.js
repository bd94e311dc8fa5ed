/** The controls: each is a plain form element, so the keyboard and readers know it. */

import {element} from "./dom.js";

let toolbars = 0;

export class Toolbar {
  /** `onSet(changes)` gets changed options, `onSave(format)` "svg", "png", ... */
  constructor(onSet, onSave) {
    this.onSet = onSet;
    this.number = toolbars += 1;
    const units = {subword: "Tokens", word: "Words"};
    const views = {all: "All", heat: "Heat map", links: "Links", reading: "Reading"};
    this.units = this._segments("unit", "Unit", units);
    this.views = this._segments("view", "View", views);
    this.head = element("select", {"aria-label": "Head"});
    this.head.addEventListener("change", () => {
      const {value} = this.head;
      onSet({head: value === "mean" || value === "all" ? value : Number(value)});
    });
    this.headLabel = element("label", {class: "av-control"}, "Head ", this.head);
    this.gold = element("input", {type: "checkbox"});
    this.gold.addEventListener("change", () => onSet({gold: this.gold.checked}));
    this.goldLabel = element("label", {class: "av-control"}, this.gold, " Gold links");
    this.save = element("span", {class: "av-save"}, "Save ");
    for (const format of ["SVG", "PNG", "CSV", "JSON"]) {
      const button = element("button", {type: "button"}, format);
      button.addEventListener("click", () => onSave(format.toLowerCase()));
      this.save.append(button);
    }
    this.node = element(
      "div",
      {class: "av-toolbar", role: "toolbar", "aria-label": "What is shown"},
      this.units.node,
      this.views.node,
      this.headLabel,
      this.goldLabel,
      this.save,
    );
  }

  /** What of it is there depends on a panel of a scene. */
  show(options, {hypothesis: {heads}, hasGold}) {
    this.units.choose(options.unit);
    this.views.choose(options.view);
    this.headLabel.hidden = heads.length < 2;
    const key = JSON.stringify(heads);
    if (key !== this.key) {
      this.key = key;
      this.head.replaceChildren(
        element("option", {value: "mean"}, "mean of all"),
        ...heads.map((name, i) => element("option", {value: i}, name)),
        element("option", {value: "all"}, "side by side"),
      );
    }
    this.head.value = options.head;
    this.goldLabel.hidden = hasGold === null;
    this.gold.disabled = !hasGold;
    this.gold.checked = Boolean(hasGold) && options.gold;
    this.goldLabel.title = hasGold ? "" : "They belong to the reference.";
  }

  _segments(option, title, choices) {
    const inputs = Object.keys(choices).map((value) => {
      const name = `av-${option}-${this.number}`;
      const input = element("input", {type: "radio", name, value});
      input.addEventListener("change", () => this.onSet({[option]: value}));
      return input;
    });
    const about = {class: "av-segments", role: "radiogroup", "aria-label": title};
    const labels = inputs.map((input) =>
      element("label", {}, input, choices[input.value]),
    );
    const node = element("span", about, ...labels);
    const choose = (value) => {
      for (const input of inputs) input.checked = input.value === value;
    };
    return {node, choose};
  }
}
