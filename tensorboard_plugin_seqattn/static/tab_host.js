/** Communication with TensorBoard: its messages, and its address bar. */

import {hostWindow} from "./theme.js";

const TAB = "seq_attention";
const PREFIX = `p.${TAB}.`; // of our keys: #seq_attention&p.seq_attention.step=3

/** Calls `onReload` when TensorBoard has read new data; without it, now and then. */
export function listenToHost(onReload) {
  if (!hostWindow()) return setInterval(onReload, 30_000);
  const {port1: port, port2: theirs} = new MessageChannel();
  port.onmessage = ({data}) => {
    const message = JSON.parse(data);
    if (/\.(DataReloaded|RunsChanged)$/.test(message.type)) onReload();
    const answer = {...message, payload: null, error: null, isReply: true};
    port.postMessage(JSON.stringify(answer));
  };
  return window.parent.postMessage("experimental.bootstrap", "*", [theirs]);
}

/** The keys of the link in the address bar. */
export function readLink() {
  const pairs = [...new URLSearchParams(hostWindow()?.location.hash)];
  const ours = pairs.filter(([key]) => key.startsWith(PREFIX));
  return Object.fromEntries(ours.map(([key, text]) => [key.replace(PREFIX, ""), text]));
}

/** Puts keys into the address bar; those of other plugins stay. */
export function writeLink(keys) {
  const {location, history} = hostWindow() ?? window;
  const [tab, ...pairs] = location.hash.split("&");
  if (tab !== `#${TAB}`) return; // another tab is in front
  const others = pairs.filter((pair) => !pair.startsWith(PREFIX));
  const ours = Object.entries(keys).map(([key, value]) => [PREFIX + key, value]);
  const hash = [tab, ...others, new URLSearchParams(ours)].filter(String).join("&");
  if (hash !== location.hash) history.replaceState(history.state, "", hash);
}

/** Calls `onLink(keys)` when somebody pastes another link into the address bar. */
export function listenToLink(onLink) {
  hostWindow()?.addEventListener("hashchange", ({target}) => {
    if (target.location.hash.startsWith(`#${TAB}&`)) onLink(readLink());
  });
}
