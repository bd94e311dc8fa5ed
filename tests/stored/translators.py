"""Small translators with random weights, and what they say."""

import keras

from tests.stored import project as ks
from tests.stored.models import SIZES, enliven

SOURCES = ["ein Haus", "das alte Haus", "Ein  Hund läuft", "alte Hunde laufen", "Haus"]
TARGETS = ["a house", "the old house", "a dog runs", "old dogs run", "house"]
TEXTS = [*SOURCES, "ein alter ½ Hund ", "", "HAUS Haus haus"]
PAIRS = ks.Pairs(SOURCES, TARGETS)


def processors():
    texts = [*SOURCES, *TARGETS] * 3
    return {
        "characters": ks.Characters.learn(texts, normalization="nfkc", lowercase=True),
        "words": ks.Words.learn(texts, 20, normalization="nfc"),
        "word_piece": ks.WordPiece.learn(texts, 45, lowercase=True),
        "unigram": ks.SentencePiece.learn(texts, 30, normalization="nfkc_casefold"),
        "bpe": ks.SentencePiece.learn(texts, 40, kind="bpe"),
    }


def encoded(processor):
    tokens = processor.encode_with_offsets(TEXTS)
    arrays = {name: x.to_list() for name, x in tokens._asdict().items()}
    arrays["pieces"] = [[p.decode() for p in row] for row in arrays["pieces"]]
    texts = [text.decode() for text in processor.decode(tokens.ids).numpy()]
    return {**arrays, "texts": texts, "vocabulary": list(processor.vocabulary)}


def write_cache(path, processor):
    """Encoded pairs in a file, or what an older file holds of the same pairs."""
    found = ks.encode(PAIRS, processor, processor, cache=path)
    return [side.values.tolist() for side in (found.source, found.target)]


def _model(build, source, target, **sizes):
    sizes |= {"source_vocabulary": source.vocabulary_size}
    sizes |= {"target_vocabulary": target.vocabulary_size}
    known = {"embedding": SIZES["embedding"], "units": SIZES["units"]}
    return enliven(build("small", **known, **sizes), seed=4)


def _words(texts):
    source, target = ks.Words.learn(SOURCES), ks.Words.learn(TARGETS)
    model = _model(ks.zoo.bahdanau2015, source, target, attention_units=5, maxout=3)
    shortlist = ks.Shortlist.learn(
        model, ks.encode(PAIRS, source, target), per_token=2, common=2, size=8
    )
    search = ks.BeamSearch(3, length_penalty=0.6, n_best=2, no_repeat_ngram=2)
    how = search, ks.RelativeLength(1.0, plus=2)
    options = {"unknown": {"Hund": "dog"}, "shortlist": shortlist}
    return ks.Translator(model, source, target, *how, **options)


def _characters(texts):
    source, target = map(ks.Characters.learn, (SOURCES, TARGETS))
    model = _model(ks.zoo.wang_simple, source, target)
    return ks.Translator(model, source, target, max_length=9, max_source=20)


def _subwords(texts):
    text = texts["unigram"]
    model = _model(ks.zoo.luong2015, text, text, layers=1)
    search = ks.Sample(0.8, top_k=5, n_best=2, seed=3)
    return ks.Translator(model, text, text, search, max_length=6)


def translators():
    """By name; a shortlist, replaced unknown words and a seed among them."""
    keras.utils.set_random_seed(5)
    texts = processors()
    makers = {"words": _words, "characters": _characters, "subwords": _subwords}
    return {name: make(texts) for name, make in makers.items()}


def said(translator):
    return [_translation(one) for one in translator.translate(TEXTS)]


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
