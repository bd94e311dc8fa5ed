/** Keyboard shortcuts. */

/** `{key: act}`, inside a node; a key that the focused element needs stays with it. */
export function listenToKeys(keys, node = document) {
  node.addEventListener("keydown", (event) => {
    const {key, target, ctrlKey, metaKey, altKey} = event;
    if (event.defaultPrevented || ctrlKey || metaKey || altKey) return;
    const isBusy = document.querySelector("dialog[open]") || isTaken(target, key);
    if (!Object.hasOwn(keys, key) || isBusy) return;
    event.preventDefault();
    keys[key]();
  });
}

function isTaken(target, key) {
  if (target.matches("select, [type=search]")) return true;
  return key === " " && target.matches("button, [type=checkbox]");
}
