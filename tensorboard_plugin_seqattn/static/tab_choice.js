/** From what the state wishes to what there is. */

/**
 * The run, the other run and their sentences; the first ones where the log does not have
 * what is wished, which `missing` says. `runs` is as of `fetchRuns`.
 */
export function choose(runs, {run, other, sentence}) {
  const names = Object.keys(runs).filter((name) => runs[name].sentences.length > 0);
  names.sort(naturally);
  const missing = [];
  const found = {names, missing, run: pick(names, run) ?? "", other: "", sentences: []};
  if (names.length === 0) return found;
  if (run && found.run !== run) missing.push(`run ${run}`);
  const wanted = sentence && runs[found.run].sentences.find(({tag}) => tag === sentence);
  const first = wanted || sentencesOf(runs, found.run)[0];
  if (sentence && !wanted) missing.push(`sentence ${sentence}`);
  found.sentences.push({run: found.run, sentence: first});
  if (other && !names.includes(other)) missing.push(`run ${other}`);
  if (!names.includes(other) || other === found.run) return found;
  found.other = other;
  const twin = twinOf(first, runs[other].sentences);
  if (twin) found.sentences.push({run: other, sentence: twin});
  else missing.push(`this sentence in ${other}`);
  return found;
}

/** The sentences of a run in the order of their tags. */
export function sentencesOf(runs, run) {
  return [...runs[run].sentences].sort((a, b) => naturally(a.tag, b.tag));
}

/** The same sentence in another run: of the same text, best with the same tag. */
export function twinOf({tag, text}, sentences) {
  const twins = sentences.filter((sentence) => sentence.text === text);
  return twins.find((twin) => twin.tag === tag) ?? twins[0];
}

function pick(names, name) {
  return names.includes(name) ? name : names[0];
}

/** run_2 before run_10 */
function naturally(a, b) {
  return a.localeCompare(b, undefined, {numeric: true});
}

/** The entry that holds at a step: the last one up to there, else the first. */
export function entryAt(entries, step) {
  if (step === null) return entries.at(-1);
  return entries.findLast((entry) => entry.step <= step) ?? entries[0];
}

/** The entries of a step in the series of a run, and of the other one up to there. */
export function entriesAt([mine, theirs], step) {
  const entry = mine && entryAt(mine.steps, step);
  return [entry, entry && theirs && entryAt(theirs.steps, entry.step)];
}

/** A metric at the steps, each with the last value up to there. */
export function curveOf({run, steps}, metric, numbers) {
  const last = (step) => steps.findLast((entry) => entry.step <= step);
  return {name: run, values: numbers.map((step) => last(step)?.metrics?.[metric])};
}

/** What the viewer shows. */
export function pictureOf({source, reference, gold}, {hypotheses, metrics}) {
  return {version: 1, source, reference, gold, hypotheses, metrics};
}
