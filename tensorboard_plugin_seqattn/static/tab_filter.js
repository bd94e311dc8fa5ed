/** The filter of the sentences: words and conditions, as in `house bleu<20`. */

/** `{words: [text], conditions: [{key, sign, bound}], wrong: [text]}` */
export function parseFilter(text, keys) {
  const filter = {words: [], conditions: [], wrong: []};
  for (const word of text.toLowerCase().split(/\s+/).filter(Boolean)) {
    const [, name, sign, bound] = /^([a-z_]+)(<=|>=|<|>)(.*)$/.exec(word) ?? [];
    const key = keys.find((known) => known.startsWith(name));
    if (!sign) filter.words.push(word);
    else if (!key || !/^-?\d*\.?\d+$/.test(bound)) filter.wrong.push(word);
    else filter.conditions.push({key, sign, bound: Number(bound)});
  }
  return filter;
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
