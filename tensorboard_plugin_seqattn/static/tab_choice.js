/** The choice of run, steps and sentences: the state's, if the log has it. */

import {sameKind} from "./tab_alignments.js";

/**
 * The run with its `list`, the other run, the sentence, and the series to show: of the
 * sentence in both runs, or of one of its `alignments`, whose kind has the `layers`.
 * If the log lacks the choice of the state, the first ones; `missing` names it.
 * `runs`: see `fetchRuns`.
 */
export function choose(runs, wish) {
  const names = Object.keys(runs).filter((name) => runs[name].sentences.length);
  names.sort(naturally);
  const run = names.includes(wish.run) ? wish.run : names[0] ?? "";
  const other = names.includes(wish.other) && wish.other !== run ? wish.other : "";
  const list = (runs[run]?.sentences ?? []).toSorted((a, b) => naturally(a.tag, b.tag));
  const sentence = list.find(({tag}) => tag === wish.sentence) ?? list[0];
  const twin = other && twinOf(sentence, runs[other].sentences);
  const {alignments = []} = sentence ?? {};
  const alignment = alignments.find(({name}) => name === wish.alignment);
  const theirs = alignmentOf(twin, alignment);
  const missing = [
    wish.run && wish.run !== run && `run ${wish.run}`,
    wish.sentence && wish.sentence !== sentence?.tag && `sentence ${wish.sentence}`,
    wish.other && !names.includes(wish.other) && `run ${wish.other}`,
    other && !twin && `this sentence in ${other}`,
    wish.alignment && !alignment && `${wish.alignment} of this sentence`,
    twin && !theirs && `${alignment.name} in ${other}`,
  ];
  const shown = [{run, ...seriesOf(alignment ?? sentence)}];
  if (theirs) shown.push({run: other, ...seriesOf(theirs)});
  return {
    ...{names, run, other, list, sentence, alignments, shown},
    alignment: alignment?.name ?? "",
    layers: sameKind(alignments, alignment).map((one) => ({run, ...one})),
    missing: missing.filter(Boolean),
  };
}

/** The same alignment of another run; the only one there, if it is of the same kind. */
function alignmentOf(twin, alignment) {
  if (!twin || !alignment) return twin;
  const {rows, columns, name} = alignment;
  const same = twin.alignments?.find((one) => one.name === name);
  return same ?? (!twin.alignments && rows !== columns ? twin : undefined);
}

function seriesOf(one) {
  return {tag: one?.tag, last: one?.last};
}

/** The same sentence in another run: of the same text, best with the same tag. */
function twinOf({tag, text}, sentences) {
  const twins = sentences.filter((sentence) => sentence.text === text);
  return twins.find((twin) => twin.tag === tag) ?? twins[0];
}

/** run_2 before run_10 */
function naturally(a, b) {
  return a.localeCompare(b, undefined, {numeric: true});
}

/** The entry that holds at a step: the last one up to there, else the first. */
export function entryAt(entries, step) {
  if (step === null) return entries?.at(-1);
  return entries?.findLast((entry) => entry.step <= step) ?? entries?.[0];
}
