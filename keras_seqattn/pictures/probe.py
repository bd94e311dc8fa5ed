"""Fixed sentences, and their pictures with the present weights of a model."""

import keras
import numpy as np
import tensorflow as tf

from keras_seqattn.decoding.decoded import with_empty_translations
from keras_seqattn.decoding.loop import decode
from keras_seqattn.decoding.scoring import score
from keras_seqattn.pictures.centres import centres, local_attention
from keras_seqattn.pictures.picture import hypothesis, number, picture
from keras_seqattn.pictures.token_places import from_bytes, in_text
from keras_seqattn.text.normalization import are_blank

_AT_ONCE = 64  # sentences


class Probe:
    """Sentences that are encoded once and translated again and again.

    Args:
        translator: the translator with the model, the text processors and the limits.
        search: the search that finds hypotheses.
        sentences: list of str.
        references: list of str, one for each sentence, or None.
        gold: list of `GoldLinks`, one for each sentence, or None.
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
        """Return a picture of each sentence."""
        pictures = []
        for start in range(0, len(self.sentences), _AT_ONCE):
            rows = range(start, min(start + _AT_ONCE, len(self.sentences)))
            source = _padded(self.source[0], rows, self.source_text)
            hypotheses = self._free(rows, source)
            if self.target:
                forced = self._forced(rows, source)
                hypotheses = [[*a, b] for a, b in zip(hypotheses, forced, strict=True)]
            pictures += map(self._picture, rows, hypotheses)
        return pictures

    def _picture(self, row, hypotheses):
        tokens = self.source[1][row]
        about = self.references[row], self.gold[row]
        return picture(self.sentences[row], tokens, hypotheses, *about)

    def _free(self, rows, source):
        """Return the hypotheses of the search, a list for each sentence."""
        pipeline, tokens = self.translator.pipeline, self.target_text.tokens
        options = pipeline.max_length, tokens
        shortlist = pipeline.shortlist
        decoded = decode(
            pipeline.model, source, self.search, *options, shortlist=shortlist
        )
        decoded = with_empty_translations(decoded, *self._are_blank(rows), tokens)
        texts = self.target_text.decode(decoded.tokens).numpy()
        pieces = self.target_text.pieces(decoded.tokens).numpy()
        _, lengths, scores, ranking, alignments = (x.numpy() for x in decoded)
        places = self._centres(source, decoded.tokens[..., : lengths.max()])

        def hypothesis_of(n, rank):
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
        return [[hypothesis_of(n, rank) for rank in ranks[n]] for n in range(len(rows))]

    def _are_blank(self, rows):
        """Return whether some sources are blank, and their lengths."""
        lengths = tf.constant([len(self.source[0][row]) for row in rows])
        return are_blank([self.sentences[row] for row in rows], lengths), lengths

    def _forced(self, rows, source):
        """Return the references as hypotheses, with alignments of teacher forcing."""
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
        """Return the centres of hypotheses `[batch, n, target]`; None if not local."""
        if self.local is None:
            return np.full(target.shape[:2], None)
        model, position = self.translator.model, self.local.position
        return centres(model, position, source, target, self.target_text.tokens)

    def _hypothesis(self, row, text, tokens, alignment, places, **about):
        """Return one hypothesis without the padding of the batch."""
        size = len(tokens)
        weights = alignment[..., :size, : len(self.source[1][row])]
        if places is not None and np.isfinite(places[:size]).all():
            centre = [number(p) for p in places[:size]]
            about |= {"centre": centre, "reach": self.local.window}
        return hypothesis(text, tokens, weights, **about)


def _encoded(processor, texts, limit=None):
    """Return rows of ids, and of tokens `[piece, start, end]`, with the end token."""
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
    """Return some of the rows, padded `[batch, length]`."""
    return keras.utils.pad_sequences(
        [ids[row] for row in rows], padding="post", value=processor.tokens.pad
    )
