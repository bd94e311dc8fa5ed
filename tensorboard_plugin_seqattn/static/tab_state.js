/** The one state of the tab, and how a link holds it. */

const START = {
  run: "",
  other: "", // the run to compare with
  sentence: "", // its tag
  metric: "entropy", // of the curves
  sort: "", // a metric, "-metric" for the largest first; "": as logged
  filter: "",
  wide: false, // all metrics in the table
  step: null, // null: the last one, whichever that is
};

/**
 * `now` are wishes: the log may lack what they name. The options of the viewer are among
 * them. `onChange(changed)` gets the Set of the keys that have another value.
 */
export class TabState {
  constructor(options, onChange) {
    this.now = this._start = {...START, ...options};
    this._optionKeys = Object.keys(options);
    this._onChange = onChange;
  }

  set(changes) {
    const pairs = Object.entries(changes).filter(
      ([key, value]) => Object.hasOwn(this._start, key) && value !== this.now[key],
    );
    if (pairs.length === 0) return;
    this.now = {...this.now, ...Object.fromEntries(pairs)};
    this._onChange(new Set(pairs.map(([key]) => key)));
  }

  /** The part that is the viewer's. */
  get options() {
    return Object.fromEntries(this._optionKeys.map((key) => [key, this.now[key]]));
  }

  /** `{key: text}` of what is not as at the start. */
  get link() {
    const pairs = Object.entries(this.now);
    const changed = pairs.filter(([key, value]) => value !== this._start[key]);
    return Object.fromEntries(changed.map(([key, value]) => [key, String(value)]));
  }

  /** Goes where a link points; anybody may have written it. */
  follow(link) {
    const read = Object.entries(link).map(([key, text]) => [key, readValue(key, text)]);
    this.set({...this._start, ...Object.fromEntries(read)});
  }
}

function readValue(key, text) {
  if (typeof START[key] === "string") return text; // a run may be called 1, or true
  if (/^\d{1,15}$/.test(text)) return Number(text);
  return {true: true, false: false}[text] ?? text;
}
