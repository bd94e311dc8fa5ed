/** The keyboard. */

/** `{key: act}`; a key that the focused element needs itself stays with it. */
export function listenToKeys(keys) {
  document.addEventListener("keydown", (event) => {
    const act = Object.hasOwn(keys, event.key) && keys[event.key];
    const {target, ctrlKey, metaKey, altKey} = event;
    if (!act || event.defaultPrevented || ctrlKey || metaKey || altKey) return;
    if (document.querySelector("dialog[open]") || isTaken(target, event.key)) return;
    event.preventDefault();
    act();
  });
}

const OWN_KEYS = {range: /^(Arrow|Home|End|Page)/, radio: /^(Arrow| )/, checkbox: /^ /};

function isTaken({tagName, type}, key) {
  if (tagName === "SELECT" || tagName === "TEXTAREA") return true;
  if (tagName === "INPUT") return !OWN_KEYS[type] || OWN_KEYS[type].test(key);
  return tagName === "BUTTON" && key === " ";
}
