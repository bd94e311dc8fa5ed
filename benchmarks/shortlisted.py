"""`python -m benchmarks.shortlisted`: speed and BLEU with a shortlist.

A trained translator translates Multi30k's test_2016_flickr without a shortlist, and
with lists of several sizes, learned from its own alignments of the training set.
KERAS_SEQATTN_RUN names the translator, KERAS_SEQATTN_DATA the folder with the corpus.
"""

import dataclasses
import statistics
import sys
import time

import keras_seqattn as ks
from benchmarks import store, trained

SIZES = (2000, 1000, 500)  # tokens of a list
SEARCHES = {"greedy": ks.Greedy(), "beam of 5": ks.BeamSearch(5)}
ROUNDS, BATCH = 5, 64


def measured(train, test, rounds=ROUNDS, sizes=SIZES):
    """Return rows `{search, size, seconds, BLEU}`; size None means no list.

    Args:
        train: `Pairs` to learn the lists from.
        test: `Pairs` to translate.
        rounds: of which the median counts.
        sizes: of the lists.
    """
    reader = trained.translator(ks.Greedy())
    pairs = ks.data.encode(train, reader.source_text, reader.target_text)
    learned = ks.decoding.Shortlist.learn(reader.model, pairs)
    lists = {size: dataclasses.replace(learned, size=size) for size in sizes}
    rows = []
    for name, search in SEARCHES.items():
        translators = {
            size: trained.translator(search, shortlist)
            for size, shortlist in {None: None, **lists}.items()
        }
        seconds, texts = _in_turn(translators, list(test.source), rounds)
        rows += [
            {"search": name, "size": size, "seconds": seconds[size]}
            | {"BLEU": float(trained.bleu(texts[size], test))}
            for size in translators
        ]
    return rows


def _in_turn(translators, sentences, rounds):
    """Return medians of seconds, and the translations."""
    seconds, texts = {size: [] for size in translators}, {}
    for i in range(1 + rounds):
        for size in list(translators)[:: 1 if i % 2 else -1]:
            start = time.perf_counter()
            texts[size] = translators[size].translate(sentences, BATCH).texts
            if i:  # the first round makes the graphs
                seconds[size].append(time.perf_counter() - start)
    return {size: statistics.median(values) for size, values in seconds.items()}, texts


def table(rows):
    """Return rows of strings; the first is the head."""
    found = [["", "tokens with logits", "seconds", "time / without a list", "BLEU"]]
    whole = {r["search"]: r["seconds"] for r in rows if r["size"] is None}
    for row in rows:
        size = "all" if row["size"] is None else f"{row['size']}"
        share = row["seconds"] / whole[row["search"]]
        times = f"{row['seconds']:.2f}", f"{share:.2f}"
        found.append([row["search"], size, *times, f"{row['BLEU']:.1f}"])
    return found


def main():
    corpus = ks.data.multi30k(tokenized=trained.is_tokenized())
    rows = measured(corpus.train, corpus.test)
    store.write("shortlisted", {**store.stamp({}), "rows": rows})
    for cells in table(rows):
        print("".join(f"{cell:>20}" for cell in cells))


if __name__ == "__main__":
    sys.exit(main())
