/** Attention for TensorBoard, which imports this file and calls `render`. */

import {element} from "./dom.js";
import {createTab} from "./tab.js";
import {followHostTheme, listenToHost, listenToLink, readLink} from "./tab_host.js";

export async function render() {
  followHostTheme();
  await Promise.all(["./viewer.css", "./tab.css"].map(addStyle));
  const tab = createTab(document.body);
  const ask = listenToHost(tab.reload);
  listenToLink(tab.follow);
  window.focus(); // the keys work without a click
  await tab.follow(await readLink(ask));
}

function addStyle(href) {
  return new Promise((resolve) => {
    const link = element("link", {rel: "stylesheet", href});
    Object.assign(link, {onload: resolve, onerror: resolve});
    document.head.append(link);
  });
}
