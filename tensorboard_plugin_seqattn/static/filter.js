/** The filter of the sentences: words and conditions, as in `house bleu<20`. */

/** `{words: [text], conditions: [{key, sign, bound}], wrong: [{word, key}]}`; the key
 * of a wrong condition is undefined if no measure has its name. */
export function parseFilter(text, keys) {
  const filter = {words: [], conditions: [], wrong: []};
  for (const word of joined(text.toLowerCase(), keys).split(/\s+/).filter(Boolean)) {
    const [, name, sign, bound] = /^([a-z_]+)(<=|>=|<|>|=|:)(.*)$/.exec(word) ?? [];
    const key = sign && keyOf(name, keys);
    const isNumber = /^-?\d*\.?\d+$/.test(bound);
    const isCondition = /[<>]/.test(sign) || (sign && key && isNumber);
    if (!isCondition) filter.words.push(word);
    else if (!key || !isNumber || !/[<>]/.test(sign)) filter.wrong.push({word, key});
    else filter.conditions.push({key, sign, bound: Number(bound)});
  }
  return filter;
}

/** Conditions without blanks: `length ratio < 1` is `length_ratio<1`. */
function joined(text, keys) {
  const signs = text.replaceAll("≤", "<=").replaceAll("≥", ">=");
  const tight = signs.replace(/([a-z])\s*(<=|>=|<|>)\s*(?=[-.\d])/g, "$1$2");
  const name = (key) => new RegExp(`${key.replaceAll("_", " ")}(?=[<>])`, "g");
  return keys.reduce((all, key) => all.replace(name(key), key), tight);
}

/** The beginning of a name or of its second word will do. */
function keyOf(name, keys) {
  const begins = keys.find((key) => key.startsWith(name));
  return begins ?? keys.find((key) => key.includes(`_${name}`));
}

/** Whether a sentence passes. One without a metric meets no condition on it. */
export function passes({words, conditions}, text, metrics) {
  return (
    words.every((word) => text.toLowerCase().includes(word)) &&
    conditions.every(({key, sign, bound}) => {
      const value = metrics?.[key] ?? NaN;
      if (sign.endsWith("=") && value === bound) return true;
      return sign.startsWith("<") ? value < bound : value > bound;
    })
  );
}

/** A condition on the first of the keys that some sentences have a number for; about
 * half of them meet it. "": there is none. */
export function exampleOf(sentences, keys) {
  for (const key of keys) {
    const values = sentences.map(({metrics}) => metrics?.[key]);
    const known = values.filter(Number.isFinite).sort((a, b) => a - b);
    const middle = known[(known.length - 1) >> 1];
    if (known.length) return `${key}<${Math.floor(100 * middle + 1) / 100}`;
  }
  return "";
}
