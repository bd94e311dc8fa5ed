"""Small processors, each learned once."""

import functools
import io

import sentencepiece
from hypothesis import settings
from hypothesis import strategies as st

import keras_seqattn as ks

# Characters that normal forms, case and encodings make longer, shorter or others.
TRICKY = (
    "aAeEﬁ½ßẞİIıKȺΣςﾊﾟ각ᄀ\u1161\u11a8㎆ǰJ\u030c\u0301\u0323\u00ad\u200b.<#�\U0001d400\0"
)
SPACES = " \t\n\u00a0\u3000▁"
TEXTS = ["the cat sat on the mat .", "the hat , the bat , the cat"]
TEXTS += ["Ein Mädchen auf der Straße …", "EIN HUT, EINE FISCHSTÄBCHENTÜTE!"]
TEXTS += ["</s> <s> <unk> 1/2 > k u n"]
MARKED = [base + mark for base in "aAeEjJsS" for mark in "\u030c\u0301\u0323"]
ALL = [*TEXTS, *TRICKY, *MARKED, TRICKY + TRICKY[::-1], "tab\tand\nline\u00a0\u3000▁"]
OPTIONS = [{}, {"lowercase": True}, {"normalization": "nfc"}]
OPTIONS += [{"normalization": "nfkc", "lowercase": True}]
OPTIONS += [{"normalization": "nfkc_casefold"}]
KINDS = ["Characters", "Words", "WordPiece", "unigram", "bpe"]
tricky = st.text(st.sampled_from(TRICKY + SPACES + "thecat ."), max_size=12)
batches = st.lists(tricky, min_size=10, max_size=30)
few = settings(max_examples=min(settings().max_examples // 4, 20))  # of many texts


def learn(kind, texts, **options):
    """Any of the processors, of a size that the texts allow."""
    if kind in ("unigram", "bpe"):
        size = largest(kind, texts, options)
        return ks.text.SentencePiece.learn(texts, size, kind=kind, **options)
    cls = getattr(ks.text, kind)
    return cls.learn(texts, 200, **options)


def foreign_model(text, vocab_size, **options):
    """One that the sentencepiece package has learned by itself."""
    model, texts = io.BytesIO(), iter([text] * 3)
    options |= {"sentence_iterator": texts, "model_writer": model, "minloglevel": 2}
    sentencepiece.SentencePieceTrainer.train(vocab_size=vocab_size, **options)
    return model.getvalue()


def largest(kind, texts, options):
    """The largest vocabulary that SentencePiece allows, as its error says."""
    try:
        ks.text.SentencePiece.learn(texts, 10_000, kind=kind, **options)
    except ValueError as error:
        return int(str(error).split("at most ")[1].split()[0])


@functools.cache
def _learned(kind, options):
    return learn(kind, ALL, **dict(options))


def learned(kind, **options):
    return _learned(kind, tuple(sorted(options.items())))


def strings(texts):
    return [text.decode() for text in texts.numpy()]
