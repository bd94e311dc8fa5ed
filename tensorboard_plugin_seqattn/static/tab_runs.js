/** Which run, and which other run to compare it with. */

import {element} from "./dom.js";
import {visible} from "./symbols.js";
import {fillSelect, iconButton} from "./tab_dom.js";

/** `onChange({run, other})` when the user chooses. */
export function createRuns(container, onChange) {
  const run = element("select", {id: "tab-run"});
  const other = element("select", {id: "tab-other"});
  const swap = iconButton("swap", "Swap the two runs", () =>
    onChange({run: other.value, other: run.value}),
  );
  const changed = () => {
    onChange({run: run.value, other: other.value === run.value ? "" : other.value});
  };
  run.onchange = changed;
  other.onchange = changed;
  container.append(
    element("label", {class: "tab-run"}, "Run", run),
    swap,
    element("label", {class: "tab-other"}, "Compare with", other),
  );
  return {
    /** `choice` as of `choose` */
    update(choice) {
      const others = choice.names.filter((name) => name !== choice.run);
      fillSelect(run, choice.names.map(runOption), choice.run);
      fillSelect(other, [["", "no other run"], ...others.map(runOption)], choice.other);
      other.disabled = others.length === 0;
      swap.hidden = choice.other === "";
      container.classList.toggle("tab-comparing", choice.other !== "");
    },
    /** Compares with the first other run, or with none any more. */
    toggle() {
      if (other.options.length < 2) return;
      onChange({other: other.value ? "" : other.options[1].value});
    },
  };
}

function runOption(name) {
  return [name, name === "." ? ". (the log folder itself)" : visible(name)];
}
