"""Pictures of all alignments of a model: of each layer, and of self-attention."""

import keras
import numpy as np
import tensorflow as tf

from keras_seqattn.pictures.picture import hypothesis, picture

MOST_WEIGHTS = 2**21  # of all alignments at one step: a few megabytes in a log
_SEARCHED = "decoder"  # the only alignment of a recurrent decoder: searches return it


class LayerPictures:
    """Adds pictures of all alignments to pictures of what a search returned.

    The model reads the hypotheses again (teacher forcing).

    Args:
        model: a model; one without `alignments` has nothing to add.
        names: of alignments, for all sentences; None: all, for as many sentences as
            `MOST_WEIGHTS` allow.
        source: list of the ids of each sentence.
        count: the greatest number of hypotheses of a sentence.
        target_text: the text processor of the target.
    """

    def __init__(self, model, names, source, count, target_text):
        self.model, self.names, self.sentences = model, names, len(source)
        self.tokens = target_text.tokens
        start = target_text.pieces(tf.constant(self.tokens.start))
        self.start = [start.numpy().decode(), 0, 0]  # before the text
        if names is None:
            known = getattr(model, "alignment_names", ())
            self.names = [name for name in known if name != _SEARCHED]
            if self.names:
                self.sentences = self._affordable(source, count)

    def _affordable(self, source, count):
        """For how many sentences there is room; targets count as long as sources."""
        start = [[self.tokens.start]]
        found = self._alignments(self.names, np.array(source[:1]), start)
        heads = sum(x.shape[1] for x in found.values())
        sizes = np.cumsum([count * heads * len(ids) ** 2 for ids in source])
        return max(1, int(np.searchsorted(sizes, MOST_WEIGHTS, "right")))

    def add_to(self, pictures, rows, source, said):
        """Give pictures their `alignments`, if there are any.

        Args:
            pictures: a list.
            rows: the number of each sentence.
            source: ids `[batch, source]`.
            said: for each picture, the ids of each hypothesis.
        """
        count = sum(row < self.sentences for row in rows)
        pictures, said = pictures[:count], said[:count]
        if not self.names or not count:
            return
        found = [{name: [] for name in self.names} for _ in pictures]
        for k in range(max(map(len, said))):  # the best ones, then the second ones, ...
            those = [n for n, ids in enumerate(said) if len(ids) > k]
            inputs = [[self.tokens.start, *said[n][k][:-1]] for n in those]
            # The source is the same for all hypotheses.
            names = [name for name in self.names if k == 0 or "target" in sides(name)]
            weights = self._alignments(names, source[those], inputs)
            for name in names:
                for n, each in zip(those, weights[name], strict=True):
                    found[n][name].append(each)
        for made, weights in zip(pictures, found, strict=True):
            if made["hypotheses"]:
                made["alignments"] = {
                    name: self._picture(made, name, weights[name])
                    for name in self.names
                }

    def _alignments(self, names, source, target):
        """Return arrays `[batch, heads, rows, columns]` by name."""
        target = keras.utils.pad_sequences(
            target, padding="post", value=self.tokens.pad
        )
        found = self.model.alignments({"source": source, "target": target}, names)
        return {name: keras.ops.convert_to_numpy(x) for name, x in found.items()}

    def _picture(self, made, name, weights):
        """Return the picture of an alignment.

        Args:
            made: the picture of the alignment that the search returned.
            name: of the alignment.
            weights: `[heads, rows, columns]` of each hypothesis, with padding.
        """
        text, source = made["source"]["text"], made["source"]["tokens"]
        rows, columns = sides(name)
        about = {"rows": rows, "columns": columns}
        if rows == "source":
            one = hypothesis(text, source, _cut(weights[0], source, source))
            return picture(text, source, [one], **about)
        hypotheses = []
        for one, found in zip(made["hypotheses"], weights, strict=True):
            tokens, seen = one["tokens"], source
            if columns == "target":  # the decoder reads the token before each
                tokens = seen = [self.start, *tokens[:-1]]
            known = {key: one[key] for key in ("kind", "rank", "score", "ranking")}
            found = _cut(found, tokens, seen)
            hypotheses.append(hypothesis(one["text"], tokens, found, **known))
        if columns == "source":
            about["reference"], about["gold"] = made["reference"], made["gold"]
        return picture(text, source, hypotheses, **about)


def sides(name):
    """What rows and columns of an alignment are: "target" or "source"."""
    if name.startswith("encoder/"):
        return "source", "source"
    return "target", "target" if name.startswith("decoder/self/") else "source"


def _cut(weights, rows, columns):
    return weights[:, : len(rows), : len(columns)]
