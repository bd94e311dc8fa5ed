"""Strings in; strings, scores, tokens and alignments out."""

import dataclasses
import warnings

import keras
import numpy as np
from keras import tree

from keras_seqattn.checks import check_count
from keras_seqattn.data.batching import batches
from keras_seqattn.data.encoding import encode
from keras_seqattn.data.filtering import filter_lengths
from keras_seqattn.decoding.beam import BeamSearch
from keras_seqattn.decoding.relative_length import RelativeLength
from keras_seqattn.errors import four_part_error
from keras_seqattn.metrics.text_metric import text_metric
from keras_seqattn.pipeline.pipeline import Pipeline
from keras_seqattn.safe_reading import well_formed
from keras_seqattn.shipped_models import named
from keras_seqattn.translator import folder
from keras_seqattn.translator.checks import (
    check_options,
    check_shortlist,
    check_text,
)
from keras_seqattn.translator.translation import Translations, translations


class Translator:
    """A model together with what reads its source and writes its target.

    It owns nothing: `translator.model` is trained with `fit`, on
    `translator.dataset(pairs, ...)`.

    Args:
        model: `Seq2Seq`, or another `StepModel`.
        source_text: `TextProcessor` of the sources.
        target_text: that of the targets; the same object for a joint vocabulary.
        search: `Greedy()`, `BeamSearch(...)`, `Sample(...)`; None: a beam of 5 that is
            ranked with a length penalty of 1.
        max_length: of a translation, in tokens: an integer or a `RelativeLength`; None:
            `RelativeLength(2.0, plus=10)`.
        max_source: tokens of a source that are read; a longer one is cut, with a
            warning.
        unknown: dict from source words to target words, which replaces unknown words
            by what was looked at (Luong et al. 2015); {}: that is copied. None: they
            stay. Needs `Words`.
        shortlist: `Shortlist`: translations consist of its tokens, and are found
            sooner; what they score then depends on what else is translated. None: of
            all tokens.

    Call arguments:
        texts: list of strings, or one string.

    Returns:
        `Translations`, with `texts`, `scores`, `alignments`; for one string a
        `Translation`.

    Example:
        >>> words = Words.learn(["one two three", "eins zwei drei"])
        >>> size = words.vocabulary_size
        >>> model = Seq2Seq(
        ...     source_embedding=keras.layers.Embedding(size, 4),
        ...     encoder=BiEncoder(8),
        ...     decoder=AttentionDecoder(
        ...         BahdanauCell(8, attention=BahdanauAttention(8))
        ...     ),
        ...     head=OutputHead(size),
        ... )
        >>> translator = Translator(model, words, words, max_length=5)
        >>> model.compile("adam", SmoothedCrossentropy())
        >>> pairs = data.Pairs(["one two", "three"], ["eins zwei", "drei"])
        >>> dataset = translator.dataset(pairs, batch_size=2)
        >>> history = model.fit(dataset, shuffle=False, verbose=0)
        >>> translation = translator("two three")
        >>> [token.piece for token in translation.source_tokens]
        ['two', 'three', '</s>']
    """

    def __init__(
        self,
        model,
        source_text,
        target_text,
        search=None,
        max_length=None,
        max_source=1000,
        unknown=None,
        shortlist=None,
    ):
        search = BeamSearch(5, length_penalty=1.0) if search is None else search
        max_length = RelativeLength() if max_length is None else max_length
        check_text("source", source_text, model)
        check_text("target", target_text, model)
        check_options(search, max_length, max_source, unknown, target_text.tokens)
        check_shortlist(shortlist, model)
        self.pipeline = Pipeline(
            model,
            source_text,
            target_text,
            search,
            max_length,
            max_source,
            unknown,
            shortlist,
        )

    @property
    def model(self):
        return self.pipeline.model

    @property
    def source_text(self):
        return self.pipeline.source_text

    @property
    def target_text(self):
        return self.pipeline.target_text

    @property
    def search(self):
        return self.pipeline.search

    def with_search(self, search):
        """A translator with the same model that searches in another way."""
        options = {f.name: getattr(self.pipeline, f.name) for f in _FIELDS}
        return Translator(**{**options, "search": search})

    # Use --------------------------------------------------------------------------

    def __call__(self, texts):
        if isinstance(texts, str):
            return self.translate([texts])[0]
        return self.translate(texts)

    def translate(self, texts, batch_size=64, progress=None, first=0):
        """Translates any number of texts, texts of like lengths together.

        Args:
            texts: list of strings.
            batch_size: texts that are translated at once.
            progress: function of the number of texts that are done, called after each
                batch; None: nobody wants to know.
            first: number of the first text, for warnings, where there were others.

        Returns:
            `Translations`, in the order of the texts.
        """
        texts = _checked_texts(texts)
        check_count("Translator.translate", "batch_size", batch_size, 1)
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        found, cut = [None] * len(texts), []
        for start in range(0, len(texts), batch_size):
            rows = order[start : start + batch_size]
            sources = [texts[i] for i in rows]
            translated = self.pipeline(sources)
            done = translations(sources, translated)
            for i, translation in zip(rows, done, strict=True):
                found[i] = translation
            cut += [rows[i] for i in np.flatnonzero(translated.source_cut)]
            if progress is not None:
                progress(start + len(rows))
        self._warn_of_cuts("texts", cut, first)
        return Translations(found)

    def score(self, pairs, batch_size=64, first=0):
        """Log-probabilities of given translations.

        Both sides are read up to `max_source` tokens, as `translate` reads a source,
        and with the same warning: the score is that of what was read.

        Args:
            pairs: `Pairs`.
            batch_size: pairs that are scored at once.
            first: number of the first pair, for warnings, where there were others.

        Returns:
            List of floats, in the order of the pairs.
        """
        check_count("Translator.score", "batch_size", batch_size, 1)
        order = sorted(range(len(pairs)), key=lambda i: -len(pairs.target[i]))
        scores, cut = [0.0] * len(pairs), []
        for start in range(0, len(pairs), batch_size):
            rows = order[start : start + batch_size]
            sides = ([side[i] for i in rows] for side in (pairs.source, pairs.target))
            scored = self.pipeline.score(*sides)
            for i, value in zip(rows, scored.score.numpy(), strict=True):
                scores[i] = float(value)
            was_cut = scored.source_cut | scored.target_cut
            cut += [rows[i] for i in np.flatnonzero(was_cut)]
        self._warn_of_cuts("pairs", cut, first)
        return scores

    def evaluate(self, pairs, metrics=("bleu",), batch_size=64, progress=None):
        """Translates the sources and compares with the targets.

        Args:
            pairs: an object with lists `source` and `target`; a target may be a list of
                several references.
            metrics: names ("bleu", "chrf", "exact_match", ...) or `TextMetric`s.
            batch_size: of `translate`.
            progress: of `translate`.

        Returns:
            Dict of numbers by name.
        """
        metrics = [metrics] if isinstance(metrics, str) else metrics
        metrics = [text_metric(metric) for metric in metrics]
        texts = self.translate(pairs.source, batch_size, progress).texts
        targets = tree.map_structure(well_formed, list(pairs.target))
        return {metric.name: metric(texts, targets) for metric in metrics}

    # Training ---------------------------------------------------------------------

    def dataset(
        self, pairs, batch_tokens=None, *, sample=False, max_tokens=None, **how
    ):
        """A dataset for `model.fit`.

        Args:
            pairs: `Pairs`.
            batch_tokens: size of a batch in tokens, see `data.batches`.
            sample: whether to draw a segmentation anew for every epoch (subword
                regularisation, Kudo 2018).
            max_tokens: pairs with a longer side are left out; None: none is.
            **how: `cache` of `data.encode`; `batch_size`, `shuffle`, `seed`, `epoch`
                and `pad_to_multiple` of `data.batches`.
        """
        cache = how.pop("cache", None)

        def encoded(epoch=None):
            ids = encode(
                pairs, self.source_text, self.target_text, sample=sample, cache=cache
            )
            return ids if max_tokens is None else filter_lengths(ids, max_tokens)[0]

        return batches(encoded if sample else encoded(), batch_tokens, **how)

    # Keeping ----------------------------------------------------------------------

    def save(self, path):
        """Writes model, processors and search into a folder, whole or not at all."""
        pipeline = self.pipeline
        texts = {"source": self.source_text, "target": self.target_text}
        if self.source_text is self.target_text:
            del texts["target"]
        objects = {"search": pipeline.search, "max_length": pipeline.max_length}
        options = {
            name: keras.saving.serialize_keras_object(value)
            for name, value in objects.items()
        }
        options |= {"max_source": pipeline.max_source, "unknown": pipeline.unknown}
        folder.save(path, self.model, texts, options, pipeline.shortlist)

    @classmethod
    def load(cls, path):
        """The translator that was saved in a folder, or one that is shipped.

        Args:
            path: of the folder; or the name of a shipped model, e.g. "dates", unless
                something of that name is there.
        """
        model, texts, content, shortlist = folder.load(named(path))
        return cls(
            model,
            texts["source"],
            texts.get("target", texts["source"]),
            search=content["search"],
            max_length=content["max_length"],
            max_source=content["max_source"],
            unknown=content["unknown"],
            shortlist=shortlist,
        )

    def export(self, path, version=None, weights="float32", manifest=None, warmup=None):
        """Writes a SavedModel, strings to strings: see `export_saved_model`.

        Args:
            path: of the folder.
            version: number of a folder in it, for TensorFlow Serving.
            weights: how they are stored.
            manifest: dict of what `manifest.json` shall hold besides.
            warmup: list of source texts that a server translates first.
        """
        from keras_seqattn.export.saved_model import export_saved_model

        export_saved_model(self.pipeline, path, version, weights, manifest, warmup)

    def export_litert(
        self, path, source_length, target_length, batch=1, weights="float32"
    ):
        """Writes a file for devices, strings to strings: see `litert.export_litert`.

        Args:
            path: of the file.
            source_length: tokens of a source that are read, the end token included.
            target_length: greatest length of a translation, the end token included.
            batch: number of texts.
            weights: "float32", "float16" or "int8".
        """
        from keras_seqattn.export.litert import export_litert

        export_litert(self.pipeline, path, source_length, target_length, batch, weights)

    def _warn_of_cuts(self, what, cut, first):
        if cut:
            cut = sorted(first + i for i in cut)
            limit = self.pipeline.max_source
            warnings.warn(
                f"Translator has read the first {limit} tokens only of {len(cut)} "
                f"{what}, number {', '.join(map(str, cut[:5]))} (from 0)"
                f"{' and others' if len(cut) > 5 else ''}. Expected at most "
                f"max_source={limit}. Split them into sentences, or pass a larger "
                "max_source.",
                stacklevel=3,
            )


_FIELDS = dataclasses.fields(Pipeline)


def _checked_texts(texts):
    if isinstance(texts, str):
        raise four_part_error(
            "Translator.translate got one string",
            "a list of strings",
            repr(texts),
            "Pass it in a list, or call the translator itself with it",
        )
    texts = list(texts)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise four_part_error(
                "Translator got something that is no text",
                "a list of strings",
                f"{text!r} at position {i}",
                "Decode bytes before",
            )
    return [well_formed(text) for text in texts]  # a translation shows its source
