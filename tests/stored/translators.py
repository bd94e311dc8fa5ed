"""Small translators with random weights, and what they say."""

import keras

from tests.stored.models import SIZES, enliven
from tests.stored.project import (
    BeamSearch,
    Characters,
    Pairs,
    RelativeLength,
    Sample,
    SentencePiece,
    Shortlist,
    Translator,
    WordPiece,
    Words,
    encode,
    zoo,
)

SOURCES = ["ein Haus", "das alte Haus", "Ein  Hund läuft", "alte Hunde laufen", "Haus"]
TARGETS = ["a house", "the old house", "a dog runs", "old dogs run", "house"]
TEXTS = [*SOURCES, "ein alter ½ Hund ", "", "HAUS Haus haus"]
PAIRS = Pairs(SOURCES, TARGETS)


def processors():
    """One of every kind, by name."""
    texts = [*SOURCES, *TARGETS] * 3
    return {
        "characters": Characters.learn(texts, normalization="nfkc", lowercase=True),
        "words": Words.learn(texts, 20, normalization="nfc"),
        "word_piece": WordPiece.learn(texts, 45, lowercase=True),
        "unigram": SentencePiece.learn(texts, 30, normalization="nfkc_casefold"),
        "bpe": SentencePiece.learn(texts, 40, kind="bpe"),
    }


def encoded(processor):
    """What a processor makes of texts."""
    tokens = processor.encode_with_offsets(TEXTS)
    arrays = {name: x.to_list() for name, x in tokens._asdict().items()}
    arrays["pieces"] = [[p.decode() for p in row] for row in arrays["pieces"]]
    texts = [text.decode() for text in processor.decode(tokens.ids).numpy()]
    return {**arrays, "texts": texts, "vocabulary": list(processor.vocabulary)}


def write_cache(path, processor):
    """Encoded pairs in a file, or what an older file holds of the same pairs."""
    found = encode(PAIRS, processor, processor, cache=path)
    return [side.values.tolist() for side in (found.source, found.target)]


def _model(build, source, target, **sizes):
    known = {"embedding": SIZES["embedding"], "units": SIZES["units"], **sizes}
    sizes = source.vocabulary_size, target.vocabulary_size
    names = "source_vocabulary", "target_vocabulary"
    vocabularies = dict(zip(names, sizes, strict=True))
    return enliven(build("small", **known, **vocabularies), seed=4)


def _words(texts):
    source, target = Words.learn(SOURCES), Words.learn(TARGETS)
    model = _model(zoo.bahdanau2015, source, target, attention_units=5, maxout=3)
    shortlist = Shortlist.learn(
        model, encode(PAIRS, source, target), per_token=2, common=2, size=8
    )
    return Translator(
        model,
        source,
        target,
        BeamSearch(3, length_penalty=0.6, n_best=2, no_repeat_ngram=2),
        RelativeLength(1.0, plus=2),
        unknown={"Hund": "dog"},
        shortlist=shortlist,
    )


def _characters(texts):
    source, target = Characters.learn(SOURCES), Characters.learn(TARGETS)
    model = _model(zoo.wang_simple, source, target)
    return Translator(model, source, target, max_length=9, max_source=20)


def _subwords(texts):
    text = texts["unigram"]
    model = _model(zoo.luong2015, text, text, layers=1)
    search = Sample(0.8, top_k=5, n_best=2, seed=3)
    return Translator(model, text, text, search, max_length=6)


def translators():
    """By name; a shortlist, replaced unknown words and a seed among them."""
    keras.utils.set_random_seed(5)
    texts = processors()
    makers = {"words": _words, "characters": _characters, "subwords": _subwords}
    return {name: make(texts) for name, make in makers.items()}


def said(translator):
    """What a translator says, as JSON has it."""
    found = translator.translate(TEXTS)
    return [_translation(one) for one in found]


def _translation(one):
    return {
        "text": one.text,
        "score": round(one.score, 6),
        "ranking": round(one.ranking, 6),
        "source": [list(token) for token in one.source_tokens],
        "target": list(one.target_tokens),
        "alignment": [[round(float(x), 6) for x in row] for row in one.alignment],
        "alternatives": [_translation(other) for other in one.alternatives],
    }
