/**
 * TensorBoard around the tab: its messages, its address bar, its dark mode. The frame is
 * of its origin, but not in every notebook; whatever fails here, the tab works.
 */

const BOOTSTRAP = "experimental.bootstrap";
const PATIENCE = 300; // ms until a host that says nothing is none
const POLL = 30_000; // ms, as TensorBoard's own reload

/**
 * Calls `onReload` when there may be new data: when TensorBoard says so, or, where it
 * does not speak with its frames, every 30 seconds.
 */
export function listenToHost(onReload) {
  const {port1: port, port2: theirs} = new MessageChannel();
  const waiting = new Map();
  const send = (message) => port.postMessage(JSON.stringify(message));
  let count = 0;
  port.onmessage = ({data}) => {
    const message = JSON.parse(data);
    if (message.isReply) {
      waiting.get(message.id)?.(message.payload);
      waiting.delete(message.id);
      return;
    }
    if (/^experimental\.(DataReloaded|RunsChanged)$/.test(message.type)) onReload();
    send({...message, payload: null, error: null, isReply: true});
  };
  window.parent.postMessage(BOOTSTRAP, "*", [theirs]);

  const ask = (type) =>
    new Promise((resolve) => {
      const message = {type, id: count++, payload: null, error: null, isReply: false};
      waiting.set(message.id, resolve);
      setTimeout(resolve, PATIENCE, null);
      send(message);
    });
  ask("experimental.GetRuns").then((runs) => {
    if (runs === null) setInterval(() => document.hidden || onReload(), POLL);
  });
  return ask;
}

/** The parent's window, or null where it may not be touched. */
function hostWindow() {
  try {
    return window.parent.location.href && window.parent !== window ? window.parent : null;
  } catch {
    return null; // of another origin
  }
}

// Deep links: #seq_attention&p.seq_attention.run=...&p.seq_attention.step=3 -----------

const PREFIX = "p.seq_attention.";

/**
 * The keys of the deep link. TensorBoard's GetURLPluginData answers from a copy that is
 * as old as the last hashchange event, so the address itself is asked first.
 */
export async function readLink(ask) {
  const host = hostWindow();
  if (host) return keysOf(host.location.hash);
  return (await ask("experimental.GetURLPluginData")) ?? {};
}

/** Puts the keys into the address bar; the keys of other plugins stay. */
export function writeLink(keys) {
  const host = hostWindow();
  const [tab, ...parts] = host ? host.location.hash.slice(1).split("&") : [];
  if (tab !== "seq_attention") return; // another tab is in front
  const others = parts.filter((part) => !decode(part).startsWith(PREFIX));
  const ours = Object.entries(keys).map(
    ([key, value]) => `${encodeURIComponent(PREFIX + key)}=${encodeURIComponent(value)}`,
  );
  const hash = `#${[tab, ...others, ...ours].join("&")}`;
  if (hash !== host.location.hash) host.history.replaceState(host.history.state, "", hash);
}

/** Calls `onLink(keys)` when somebody pastes another link into the address bar. */
export function listenToLink(onLink) {
  hostWindow()?.addEventListener("hashchange", ({target}) => {
    const {hash} = target.location;
    if (hash.startsWith("#seq_attention&")) onLink(keysOf(hash));
  });
}

function keysOf(hash) {
  const pairs = hash.slice(1).split("&").map((part) => part.split("=").map(decode));
  return Object.fromEntries(
    pairs
      .filter(([key, value]) => key.startsWith(PREFIX) && value !== undefined)
      .map(([key, value]) => [key.slice(PREFIX.length), value]),
  );
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a stray % sign
  }
}

// Dark mode ---------------------------------------------------------------------------

/** Keeps `data-theme` of the root element equal to TensorBoard's, else the system's. */
export function followHostTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const body = hostWindow()?.document.body;
  const apply = () => {
    const dark = body ? body.classList.contains("dark-mode") : system.matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
  };
  if (body) {
    new MutationObserver(apply).observe(body, {attributeFilter: ["class"]});
  } else {
    system.addEventListener("change", apply);
  }
  apply();
}
