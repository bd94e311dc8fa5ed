/** The light or dark theme of the page around, else of the system. */

/** `isHostDark` says it of the body of that page; undefined: it does not know. */
export function followTheme(isHostDark) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const host = hostWindow()?.document.body;
  const follow = () => {
    const isDark = (host && isHostDark(host)) ?? system.matches;
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
  };
  if (host) new MutationObserver(follow).observe(host, {attributes: true});
  system.addEventListener("change", follow);
  follow();
}

/** The window around this frame; null: there is none, or it may not be touched. */
export function hostWindow() {
  try {
    return window.parent !== window && window.parent.document ? window.parent : null;
  } catch {
    return null; // of another origin
  }
}
