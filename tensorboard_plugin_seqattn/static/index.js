/** Attention for TensorBoard, which imports this file and calls `render`. */

import {element} from "./dom.js";
import {createTab} from "./tab.js";
import {listenToHost, listenToLink, readLink} from "./tab_host.js";
import {followTheme} from "./theme.js";

export async function render() {
  followTheme((host) => host.classList.contains("dark-mode"));
  await Promise.all(["./viewer.css", "./sentences.css", "./tab.css"].map(addStyle));
  const tab = createTab(document.body);
  listenToHost(tab.reload);
  listenToLink(tab.follow);
  window.focus(); // the keys work without a click
  await tab.follow(readLink());
}

function addStyle(href) {
  return new Promise((resolve) => {
    const about = {rel: "stylesheet", href, onload: resolve, onerror: resolve};
    document.head.append(element("link", about));
  });
}
