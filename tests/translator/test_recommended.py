"""`recommended`: settings by the data; `Translator.fit_pairs` trains with them."""

import random

import pytest

import keras_seqattn as ks
from keras_seqattn.translator import recommended

WORDS = [f"{a}{b}{c}" for a in "abcdefgh" for b in "aeiou" for c in "klmnrst"]


def sentences(count, words, length, seed=0):
    draw = random.Random(seed)
    return [" ".join(draw.choices(words, k=length)) for _ in range(count)]


def rare_words(count, length):
    """Sentences in which half of the words occur once."""
    common = sentences(count, WORDS[:9], length // 2)
    return [f"{text} {i}x{i}" for i, text in enumerate(common)]


@pytest.mark.parametrize(
    ("texts", "kind", "reason"),
    [
        (sentences(60, WORDS[:20], 6), "words", "the texts have only 20 different"),
        (WORDS, "characters", "most texts are short and have no blanks"),
        (rare_words(300, 4), "sentencepiece:", "33 % of a new text would be unknown"),
    ],
)
def test_kind_of_text(texts, kind, reason):
    found = recommended(ks.data.Pairs(texts, sentences(len(texts), WORDS[:9], 3)))
    assert found.source_text.startswith(kind) and found.target_text == "words"
    assert reason in found.reasons["source_text"]
    joint = recommended(ks.data.Pairs(texts, texts), joint=True)
    assert joint.source_text == joint.target_text


@pytest.mark.parametrize("count", [1, 40, 300, 4000])
def test_the_vocabulary_fits_the_texts(count):
    """Subwords can be learned, however little text there is."""
    pairs = ks.data.Pairs(rare_words(count, 8), rare_words(count, 4))
    found = recommended(pairs, kinds=("subwords", "subwords"))
    for kind, texts in (
        (found.source_text, pairs.source),
        (found.target_text, pairs.target),
    ):
        size, learner = int(kind.split(":")[1]), ks.text.SentencePiece.learn
        assert learner(texts, size, kind="bpe").vocabulary_size == size


def test_more_data_have_larger_models():
    counts = [200, 20_000, 2_000, 200_000]
    found = [recommended([("a b", "b a")] * count) for count in counts]
    units = [each.model["units"] for each in found]
    assert units[0] < units[1] <= units[3]
    assert ["data" in each.reasons for each in found] == [True, False, True, False]
    short = recommended([("a b", "b a")] * 200, epochs=2)
    assert short.epochs == 2 and 15 * short.warmup <= found[0].warmup
    long = recommended([("a " * 900, "b")] * 20_000)
    assert 4 <= long.batch_size < found[1].batch_size


@pytest.mark.system
def test_fit_pairs(capsys):
    """A few words in another order: learned from 300 pairs."""
    texts = sentences(300, WORDS[:12], 4)
    pairs = [(text, " ".join(reversed(text.split()))) for text in texts]
    translator = ks.Translator.fit_pairs(pairs, epochs=12, verbose=2)
    printed = capsys.readouterr().out
    assert "270 pairs for training, 30 for validation" in printed
    assert str(recommended(pairs[:270])).splitlines()[-1][-40:] in printed
    fresh = sentences(50, WORDS[:12], 4, seed=9)
    right = [" ".join(reversed(text.split())) for text in fresh]
    assert translator.evaluate((fresh, right), "exact_match")["exact_match"] >= 80
