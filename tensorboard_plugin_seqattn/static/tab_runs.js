/** The choice of a run, and of another run to compare it with. */

import {element} from "./dom.js";
import {visible} from "./symbols.js";

/** `onChange({run, other})` when the user chooses. */
export function createRuns(container, onChange) {
  const onchange = () => onChange({run: run.value, other: other.value});
  const run = element("select", {id: "tab-run", onchange});
  const other = element("select", {id: "tab-other", onchange});
  container.prepend(
    element("label", {class: "tab-run-0"}, "Run ", run),
    element("label", {class: "tab-run-1"}, "Compare with ", other),
  );
  const option = (value) => {
    const name = value === "." ? ". (the log folder itself)" : visible(value);
    return element("option", {value}, name || "no other run");
  };
  return {
    /** `choice` as of `choose` */
    update({names, run: chosen, other: compared}) {
      const others = ["", ...names.filter((name) => name !== chosen)];
      run.replaceChildren(...names.map(option));
      other.replaceChildren(...others.map(option));
      [run.value, other.value] = [chosen, compared];
      other.disabled = others.length < 2;
    },
  };
}
