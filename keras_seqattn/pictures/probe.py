"""Fixed sentences, and what a model makes of them now."""

import keras
import numpy as np
import tensorflow as tf

from keras_seqattn.decoding.loop import decode
from keras_seqattn.decoding.scoring import score
from keras_seqattn.pictures.centres import centres, local_attention
from keras_seqattn.pictures.picture import hypothesis, number, picture
from keras_seqattn.pictures.token_places import from_bytes, in_text

_AT_ONCE = 64  # sentences


class Probe:
    """The sentences, encoded once.

    Args:
        translator: whose model, text processors and limits are used.
        search: how it searches.
        sentences: list of str.
        references: as many, or None.
        gold: as many `GoldLinks`, or None.
    """

    def __init__(self, translator, search, sentences, references=None, gold=None):
        self.translator, self.search, self.sentences = translator, search, sentences
        nothing = [None] * len(sentences)
        self.references, self.gold = references or nothing, gold or nothing
        self.source_text = translator.source_text
        self.target_text = translator.target_text
        limit = translator.pipeline.max_source
        self.source = _encoded(self.source_text, sentences, limit)
        self.target = references and _encoded(self.target_text, references)
        self.local = local_attention(translator.model)

    def pictures(self):
        """A picture of each sentence."""
        found = []
        for start in range(0, len(self.sentences), _AT_ONCE):
            rows = range(start, min(start + _AT_ONCE, len(self.sentences)))
            source = _padded(self.source[0], rows, self.source_text)
            hypotheses = self._free(rows, source)
            if self.target:
                forced = self._forced(rows, source)
                hypotheses = [[*a, b] for a, b in zip(hypotheses, forced, strict=True)]
            found += map(self._picture, rows, hypotheses)
        return found

    def _picture(self, row, hypotheses):
        tokens = self.source[1][row]
        about = self.references[row], self.gold[row]
        return picture(self.sentences[row], tokens, hypotheses, *about)

    def _free(self, rows, source):
        """What the search finds, for each sentence a list."""
        pipeline, tokens = self.translator.pipeline, self.source_text.tokens
        options = pipeline.max_length, tokens
        shortlist = pipeline.shortlist
        found = decode(
            pipeline.model, source, self.search, *options, shortlist=shortlist
        )
        texts = self.target_text.decode(found.tokens).numpy()
        pieces = self.target_text.pieces(found.tokens).numpy()
        _, lengths, scores, ranking, alignments = (x.numpy() for x in found)
        places = self._centres(source, found.tokens[..., : lengths.max()])

        def said(n, rank):
            text = texts[n, rank].decode(errors="replace")
            words = pieces[n, rank, : lengths[n, rank]]
            return self._hypothesis(
                rows[n],
                text,
                in_text(text, [word.decode(errors="replace") for word in words]),
                alignments[n, rank],
                places[n, rank],
                rank=rank,
                score=scores[n, rank],
                ranking=ranking[n, rank],
            )

        ranks = [np.flatnonzero(length).tolist() for length in lengths]
        return [[said(n, rank) for rank in ranks[n]] for n in range(len(rows))]

    def _forced(self, rows, source):
        """What the model sees while it is made to say the references, one for each."""
        target, tokens = _padded(self.target[0], rows, self.target_text), self.target[1]
        scored = score(self.translator.model, source, target, self.target_text.tokens)
        scores, _, alignments = (x.numpy() for x in scored)
        places = self._centres(source, target[:, None])
        return [
            self._hypothesis(
                row,
                self.references[row],
                tokens[row],
                alignments[n],
                places[n, 0],
                kind="forced",
                score=scores[n],
            )
            for n, row in enumerate(rows)
        ]

    def _centres(self, source, target):
        """For hypotheses `[batch, n, target]`; None for each if nothing is local."""
        if self.local is None:
            return np.full(target.shape[:2], None)
        model, position = self.translator.model, self.local.position
        return centres(model, position, source, target, self.target_text.tokens)

    def _hypothesis(self, row, text, tokens, alignment, places, **about):
        """One hypothesis, without the padding of the batch."""
        size = len(tokens)
        weights = alignment[..., :size, : len(self.source[1][row])]
        if places is not None and np.isfinite(places[:size]).all():
            centre = [number(p) for p in places[:size]]
            about |= {"centre": centre, "reach": self.local.window}
        return hypothesis(text, tokens, weights, **about)


def _encoded(processor, texts, limit=None):
    """Rows of ids, and of tokens `[piece, start, end]`, both with the end token."""
    encoded = processor.encode_with_offsets(tf.constant(texts))
    end = processor.tokens.end
    last = processor.pieces(tf.constant(end)).numpy().decode()
    rows = zip(texts, *(x.to_list() for x in encoded), strict=True)
    ids, tokens = [], []
    for text, numbers, pieces, starts, ends in rows:
        pieces = [piece.decode(errors="replace") for piece in pieces]
        places = list(zip(pieces, starts, ends, strict=True))[:limit]
        ids.append([*numbers[:limit], end])
        tokens.append([*from_bytes(text, places), [last, len(text), len(text)]])
    return ids, tokens


def _padded(ids, rows, processor):
    """`[batch, length]`, some of the rows."""
    return keras.utils.pad_sequences(
        [ids[row] for row in rows], padding="post", value=processor.tokens.pad
    )
