"""Each side has its own special tokens: with other ids, nothing else changes."""

import dataclasses
import json

import keras
import numpy as np
import pytest
import tensorflow as tf

import keras_seqattn as ks
from keras_seqattn.decoding import RelativeLength, Shortlist
from keras_seqattn.pictures.probe import Probe
from keras_seqattn.pipeline.pipeline import Pipeline
from keras_seqattn.types import SpecialTokens
from tests.translator.tiny import BEAM, PAIRS, SOURCES, TARGETS, model, texts

FIELDS = dataclasses.fields(Pipeline)
SIZES = [text.vocabulary_size for text in texts()]
TOKENS = SpecialTokens(1, 0, 2, 3), SpecialTokens(SIZES[1] - 1, SIZES[1] - 3, 4, 0)
TABLE = np.arange(4, 4 + SIZES[0])[:, None] % SIZES[1]


class Renumbered(ks.text.TextProcessor):
    """`Characters` with other special tokens; other ids keep their order."""

    def __init__(self, vocabulary, tokens, **options):
        self.tokens = SpecialTokens(*tokens)
        super().__init__(vocabulary, **options)
        self.new, self.old = ids_of(tokens, len(vocabulary))
        pieces = [vocabulary[i] for i in self.new]
        self.characters = ks.text.Characters(pieces, **options)

    def _tokenize(self, texts):
        ids, starts, ends = self.characters._tokenize(texts)
        return tf.gather(self.new, ids), starts, ends

    def _join(self, ids):
        return self.characters._join(tf.gather(self.old, ids))

    def get_config(self):
        return {**super().get_config(), "tokens": list(self.tokens)}

    def _to_bytes(self):
        return json.dumps(self.vocabulary).encode()

    @classmethod
    def _from_bytes(cls, data, config):
        return cls(json.loads(data), **config)


def ids_of(tokens, size):
    """Return the new id of each id of `Characters`, and the old id of each new one."""
    new = [*tokens, *(i for i in range(size) if i not in tokens)]
    return np.array(new, "int32"), np.argsort(new).astype("int32")


def renumbered(text, tokens):
    _, old = ids_of(tokens, text.vocabulary_size)
    return Renumbered([text.vocabulary[i] for i in old], tokens, **text.get_config())


@pytest.fixture(scope="module")
def twins():
    """Two translators of one model, and their shortlists; the second has other ids."""
    source, target = map(renumbered, texts(), TOKENS)
    plain = model(*texts())
    pads = {"pad": target.tokens.pad, "source_pad": source.tokens.pad}
    other = ks.Seq2Seq.from_config({**plain.get_config(), **pads})
    for old, new in zip(plain.weights, other.weights, strict=True):
        new.assign(old)
    for weight, ids, axis in (
        (other.source_embedding.embeddings, source.old, 0),
        (other.target_embedding.embeddings, target.old, 0),
        (other.head.projection.kernel, target.old, 1),
        (other.head.bias, target.old, 0),
    ):
        weight.assign(np.take(keras.ops.convert_to_numpy(weight), ids, axis))
    tables = (TABLE, range(SIZES[1])), (target.new[TABLE][source.old], target.new)
    made = zip((plain, other), (texts(), (source, target)), tables, strict=True)
    return [
        (
            ks.Translator(each, *sides, BEAM, RelativeLength(1.0, plus=1)),
            Shortlist(*table, common=2, size=7),
        )
        for each, sides, table in made
    ]


def results(translator):
    """Return texts, and numbers that belong to them."""
    found = translator.translate([*SOURCES, "", "?"])
    return found.texts, found.scores


def same(one, other):
    assert one[0] == other[0]
    np.testing.assert_allclose(one[1], other[1], atol=1e-5)


def test_other_ids_give_the_same_results(twins):
    found = []
    for translator, shortlist in twins:
        [picture] = Probe(translator, BEAM, SOURCES[:1], TARGETS[:1]).pictures()
        options = {f.name: getattr(translator.pipeline, f.name) for f in FIELDS}
        short = ks.Translator(**{**options, "shortlist": shortlist})
        texts, scores = zip(results(translator), results(short), strict=True)
        texts = *sum(texts, []), *(x["text"] for x in picture["hypotheses"])
        found.append((texts, [*scores[0], *scores[1], *translator.score(PAIRS)]))
    same(*found)


def test_training_saving_and_export(twins, tmp_path):
    losses = []
    for translator, _ in twins:
        translator.model.compile(keras.optimizers.SGD(0.5), "auto")
        dataset = translator.dataset(PAIRS, batch_size=3)
        fitted = translator.model.fit(dataset, epochs=3, shuffle=False, verbose=0)
        losses += fitted.history["loss"]
    np.testing.assert_allclose(losses[:3], losses[3:], rtol=1e-5)
    learned = [
        Shortlist.learn(
            translator.model,
            ks.data.encode(PAIRS, translator.source_text, translator.target_text),
            per_token=SIZES[1],
        ).table
        for translator, _ in twins
    ]
    (plain, _), (other, _) = twins
    moved = np.append(other.target_text.old, -1)[learned[1]]
    moved = moved[other.source_text.new]
    np.testing.assert_array_equal(np.sort(learned[0]), np.sort(moved))
    other.save(tmp_path / "translator")
    same(results(plain), results(ks.Translator.load(tmp_path / "translator")))
    other.export(tmp_path / "export")
    serve = tf.saved_model.load(tmp_path / "export").signatures["serving_default"]
    found = serve(tf.constant(SOURCES))["text"].numpy()
    assert [text.decode() for text in found] == plain.translate(SOURCES).texts
