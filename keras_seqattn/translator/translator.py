"""`Translator`: a model with its text processors and its search."""

import dataclasses
import inspect
import warnings

import keras
import numpy as np
from keras import tree

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.data.batch_dataset import batches
from keras_seqattn.data.batch_plan import check_size
from keras_seqattn.data.encoding import encode
from keras_seqattn.data.filtering import filter_lengths
from keras_seqattn.data.pairs import as_pairs
from keras_seqattn.decoding.beam import BeamSearch
from keras_seqattn.decoding.checks import check_model
from keras_seqattn.decoding.relative_length import RelativeLength
from keras_seqattn.errors import four_parts
from keras_seqattn.metrics.text_metric import text_metric
from keras_seqattn.pipeline.pipeline import Pipeline
from keras_seqattn.safe_reading import well_formed
from keras_seqattn.translator import folder, pickling
from keras_seqattn.translator.checks import (
    as_texts,
    check_options,
    check_shortlist,
    check_texts,
    warn_if_untrained,
)
from keras_seqattn.translator.fit_pairs import fit_pairs
from keras_seqattn.translator.translation import Translations, translations


class Translator:
    """Translates strings with a model, two text processors and a search.

    Train `translator.model` with `fit` on `translator.dataset(pairs, ...)`.

    Args:
        model: `Seq2Seq`, or another `StepModel`.
        source_text: `TextProcessor` of the sources.
        target_text: `TextProcessor` of the targets; for a joint vocabulary the same
            object as `source_text`.
        search: `Greedy()`, `BeamSearch(...)` or `Sample(...)`. None: a beam of 5 with a
            length penalty of 1.
        max_length: greatest length of a translation in tokens, an integer or a
            `RelativeLength`. None: `RelativeLength(2.0, plus=10)`.
        max_source: greatest number of tokens that are read of a source. A longer source
            is cut, with a warning. A model that can read fewer lowers the number.
        unknown: dict from source words to target words. An unknown word in a
            translation is replaced by the target word of the source word with the
            largest weight (Luong et al. 2015), or by this source word itself if the
            dict does not have it; {} copies all. None: unknown words stay. Needs
            `Words`.
        shortlist: `Shortlist`: translations use its tokens only, which is faster. The
            scores then depend on the other texts of a batch. None: all tokens.

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
        check_model("Translator", model)
        check_texts(source_text, target_text, model)
        check_options(search, max_length, max_source, unknown, target_text.tokens)
        check_shortlist(shortlist, model)
        longest = getattr(model, "max_source", None)  # with the end token
        if longest is not None:
            max_source = min(max_source, longest - 1)
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
        """Return a translator with the same model and another search."""
        options = {f.name: getattr(self.pipeline, f.name) for f in _FIELDS}
        return Translator(**{**options, "search": search})

    # Use --------------------------------------------------------------------------

    def __call__(self, texts):
        warn_if_untrained(self.model)
        if isinstance(texts, str):
            return self.translate([texts])[0]
        return self.translate(texts)

    def translate(self, texts, batch_size=64, progress=None, first=0):
        """Translate any number of texts; each batch has texts of similar lengths.

        Args:
            texts: list of strings.
            batch_size: number of texts in a batch.
            progress: function that is called with the number of translated texts after
                each batch, or None.
            first: number of the first text in warnings, if other texts came before.

        Returns:
            `Translations`, in the order of the texts.
        """
        texts = as_texts(texts)
        check_count("Translator.translate", "batch_size", batch_size, 1)
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        results, cut = [None] * len(texts), []
        for start in range(0, len(texts), batch_size):
            rows = order[start : start + batch_size]
            sources = [texts[i] for i in rows]
            translated = self.pipeline(sources)
            batch = translations(sources, translated)
            for i, translation in zip(rows, batch, strict=True):
                results[i] = translation
            cut += [rows[i] for i in np.flatnonzero(translated.source_cut)]
            if progress is not None:
                progress(start + len(rows))
        self._warn_of_cuts("text", cut, first)
        return Translations(results)

    def score(self, pairs, batch_size=64, first=0):
        """Return the log-probabilities of existing translations.

        Both sides are read up to `max_source` tokens, with the same warning as in
        `translate`. The score is the score of the tokens that were read.

        Args:
            pairs: `Pairs`, or a list of pairs of strings.
            batch_size: number of pairs in a batch.
            first: number of the first pair in warnings, if other pairs came before.

        Returns:
            List of floats, in the order of the pairs.
        """
        pairs = as_pairs("Translator.score", pairs)
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
        self._warn_of_cuts("pair", cut, first)
        return scores

    def evaluate(self, pairs, metrics=("bleu",), batch_size=64, progress=None):
        """Translate the sources and compare the translations with the targets.

        Args:
            pairs: `Pairs`, or a list of pairs of strings; a target may be a list of
                several references.
            metrics: names ("bleu", "chrf", "exact_match", ...) or `TextMetric`s.
            batch_size: see `translate`.
            progress: see `translate`.

        Returns:
            Dict of numbers by name.
        """
        pairs = as_pairs("Translator.evaluate", pairs)
        warn_if_untrained(self.model)
        metrics = [metrics] if isinstance(metrics, str) else metrics
        metrics = [text_metric(metric) for metric in metrics]
        texts = self.translate(pairs.source, batch_size, progress).texts
        targets = tree.map_structure(well_formed, pairs.target)
        return {metric.name: metric(texts, targets) for metric in metrics}

    # Training ---------------------------------------------------------------------

    @classmethod
    def fit_pairs(
        cls,
        pairs,
        validation=None,
        epochs=None,
        verbose="auto",
        callbacks=(),
        init_from=None,
        freeze=(),
    ):
        """Return a translator that has learned from pairs of texts.

        The texts, the model and the training are those of `recommended(pairs)`, which
        are printed with their reasons. `seqattn train --pairs FILE` does the same in a
        folder, and can be interrupted. The best weights of all epochs are kept.

        Args:
            pairs: `Pairs`, or a list of pairs of strings.
            validation: pairs to choose the best epoch with. None: a tenth of the pairs,
                at least 20 and at most 1000.
            epochs: passes over the pairs. None: what suits their number.
            verbose: of `model.fit`; 0 prints nothing.
            callbacks: more callbacks for `model.fit`.
            init_from: a trained `Translator`, or the path of its folder: training
                starts from its weights, with its texts and sizes, and does not change
                it. `transfer` starts with a new vocabulary. None: from new weights.
            freeze: names of layers that do not learn, see `models.freeze`.

        Example:
            >>> pairs = [(f"{a} {b}", f"{b} {a}") for a in "abcdefg" for b in "hijklmn"]
            >>> translator = Translator.fit_pairs(pairs, epochs=1, verbose=0)
            >>> translator.source_text.vocabulary_size
            18
        """
        how = epochs, verbose, callbacks, init_from, freeze
        return fit_pairs(cls, pairs, validation, *how)

    def dataset(
        self, pairs, batch_tokens=None, *, sample=False, max_tokens=None, **how
    ):
        """Return a dataset for `model.fit`.

        Args:
            pairs: `Pairs`, or a list of pairs of strings.
            batch_tokens: size of a batch in tokens, see `data.batches`.
            sample: whether to sample a new segmentation for every epoch (subword
                regularisation, Kudo 2018).
            max_tokens: pairs with a longer side are left out; None keeps all pairs.
            **how: `cache` of `data.encode`; `batch_size`, `shuffle`, `seed`, `epoch`
                and `pad_to_multiple` of `data.batches`.
        """
        for name in how:
            check_choice("Translator.dataset", "argument", name, _DATASET)
        cache = how.pop("cache", None)
        check_size("Translator.dataset", batch_tokens, how.get("batch_size"))
        pairs = as_pairs("Translator.dataset", pairs)

        def encoded(epoch=None):
            ids = encode(
                pairs, self.source_text, self.target_text, sample=sample, cache=cache
            )
            return ids if max_tokens is None else filter_lengths(ids, max_tokens)[0]

        return batches(encoded if sample else encoded(), batch_tokens, **how)

    # Saving -----------------------------------------------------------------------

    def save(self, path):
        """Write model, processors and options into a folder, all or nothing.

        `pickle` and `copy.deepcopy` keep the same: not the state of the optimizer.
        """
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
        """Return the translator in a folder, or a shipped one.

        Args:
            path: path of the folder, or the name of a shipped model, e.g. "dates". A
                file or folder of that name comes first.
        """
        model, texts, content, shortlist = folder.load(path)
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

    def __getstate__(self):
        """Return the files of `save`, because Keras cannot pickle every part."""
        return pickling.packed(self.save)

    def __setstate__(self, files):
        self.pipeline = pickling.unpacked(files, self.load).pipeline

    def export(self, path, version=None, weights="float32", manifest=None, warmup=None):
        """Write a SavedModel from strings to strings, see `export_saved_model`.

        Args:
            path: path of the folder.
            version: number of the version folder in it, for TensorFlow Serving. None:
                no version folder.
            weights: "float32", "bfloat16" or "int8": how weights are stored.
            manifest: dict of further entries for `manifest.json`.
            warmup: list of source texts that a server translates when it starts.
        """
        from keras_seqattn.export.saved_model import export_saved_model

        export_saved_model(self.pipeline, path, version, weights, manifest, warmup)

    def export_litert(
        self, path, source_length, target_length, batch=1, weights="float32"
    ):
        """Write a LiteRT file from strings to strings, see `litert.export_litert`.

        Args:
            path: path of the file.
            source_length: number of source tokens that are read, with the end token.
            target_length: greatest length of a translation, with the end token.
            batch: number of texts in each call.
            weights: "float32", "float16" or "int8".
        """
        from keras_seqattn.export.litert import export_litert

        export_litert(self.pipeline, path, source_length, target_length, batch, weights)

    def _warn_of_cuts(self, noun, cut, first):
        if cut:
            numbers = sorted(first + i for i in cut)
            shown = ", ".join(map(str, numbers[:5]))
            message = four_parts(
                f"Translator has read only the beginning of "
                f"{len(cut)} {noun}{'s' * (len(cut) > 1)}",
                f"at most max_source={self.pipeline.max_source} tokens",
                f"more at position {shown} (from 0)"
                f"{' and others' if len(cut) > 5 else ''}",
                f"Split each {noun} into sentences, or pass a larger max_source where "
                "the translator is made: Translator(..., max_source=5000)",
            )
            warnings.warn(message, stacklevel=3)


_FIELDS = dataclasses.fields(Pipeline)
_HOW = ("cache", *list(inspect.signature(batches).parameters)[2:])  # of `dataset`
_DATASET = ("pairs", "batch_tokens", "sample", "max_tokens", *_HOW)
