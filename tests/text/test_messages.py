"""Every error of `text` says what is wrong, and none is left untried."""

import gzip
import json
import sys
import tempfile
from pathlib import Path
from unittest import mock

import keras_hub
import numpy as np
import pytest

import keras_seqattn as ks
from keras_seqattn.text import (
    Characters,
    HubTokenizer,
    SentencePiece,
    WordPiece,
    Words,
    heat_map,
    word_vectors,
)
from keras_seqattn.text.kinds import ProcessorChoice
from tests import hub
from tests.raised import check_error, rows, untried
from tests.text.learned import foreign_model, learned

PACKAGE = Path(ks.__file__).parent / "text"
SPECIAL = ["<pad>", "<s>", "</s>", "<unk>"]
SAVED = {"class_name": "Words", "config": {}, "vocabulary_size": 5}
LINES = "\n".join([*SPECIAL, "a"]).encode() + b"\n"
EYE = np.eye(2)


def words(*more, **options):
    return Words([*SPECIAL, "a", *more], **options)


def learn(*args, **options):
    return SentencePiece.learn(["the cat", "the hat"] * 3, *args, **options)


def with_symbols(symbols):
    return learn(10, user_defined_symbols=symbols)


def without(package, call):
    with mock.patch.dict(sys.modules, {package: None}):
        call()


def load(cls=ks.text.TextProcessor, change=None, vocabulary=None, **options):
    """Load `Words` with other options or another vocabulary, or after a change."""
    folder = Path(tempfile.mkdtemp(dir=".")) / "text"
    words().save(folder)
    (folder / "text.json").write_text(json.dumps({**SAVED, **options}))
    if vocabulary is not None:
        (folder / "vocabulary.txt").write_bytes(vocabulary)
    if change is not None:
        change(folder)
    cls.load(folder)


def remove(folder):
    for path in folder.iterdir():
        path.unlink()


def cut_off(folder):
    learned("unigram").save(folder)
    path = folder / "sentencepiece.model"
    path.write_bytes(path.read_bytes()[:-3])


@pytest.fixture(autouse=True)
def inside_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def kind_of(text):
    return ProcessorChoice.parse("train", text)


class Numbered(ks.text.TextProcessor):
    tokens = ks.types.SpecialTokens(unknown=7)


# What is wrong ... parts of the rest of the message: the call that says so.
WORDS_GOT = {
    "an unknown normalization ... ization='NF'": lambda: words(normalization="NF"),
    "an unusable vocabulary ... a list of str, received 'abc'": lambda: Words("abc"),
    "a vocabulary without the special tokens ... '<unk>'] at the start, received "
    "['a', 'b'] ... Words.learn(texts)": lambda: Words("a b".split()),
    "a vocabulary with a piece that is not a word ... received ''": lambda: words(""),
    "a vocabulary with a piece that is not a word ... 'a b'": lambda: words("a b"),
    "a vocabulary with a piece that is not a ... 'a\\u3000'": lambda: words("a\u3000"),
    "a vocabulary with a lone surrogate ... '\\ud800'": lambda: words("\ud800"),
    "unusable texts ... received [['a', 'b']]": lambda: words().encode([["a", "b"]]),
    "unusable texts ... array([0, 1])": lambda: words().normalize(np.arange(2)),
    "unusable ids ... received [0.5]": lambda: words().decode([0.5]),
    "ids outside of its vocabulary. Expected integers in [0, 5), received [9, -1]. "
    "Check that": lambda: words().decode([[2, 9], [-1]]),
    "ids outside of its vocabulary ... [5]. Check": lambda: words().pieces(5),
    "unusable ids ... received string (1,). Pass a tensor, a ragged tensor or lists of "
    "int": lambda: words().pieces(words().normalize(["a"])),
    "ids without a length ... received shape ()": lambda: words().decode(4),
    "an unusable text ... a string tensor, received 3": lambda: Words.learn(["a", 3]),
    "nothing to learn from ... received no text": lambda: Words.learn(iter(["", "  "])),
}
LEARN_GOT = {  # SentencePiece.learn
    "an unknown kind ... bpe, unigram, received 'word'": lambda: learn(10, kind="word"),
    "an unusable character_coverage ... 0.98 to 1, received character_coverage=0.9. "
    "Use 1 for alphabets, 0.9995": lambda: learn(10, character_coverage=0.9),
    "an unusable character_coverage ... '1'": lambda: learn(10, character_coverage="1"),
    "unusable user_defined_symbols ... not in ['<pad>', '<s>', '</s>', '<unk>'], "
    "received ['<s>', 'x']": lambda: with_symbols(["<s>", "x"]),
    "unusable user_defined_symbols ... '<2de>'": lambda: with_symbols("<2de>"),
    "unusable user_defined_symbols ... received None": lambda: with_symbols(None),
    "unusable user_defined_symbols ... [['a']]": lambda: with_symbols([["a"]]),
    "a vocabulary_size too large ... most 12 ... =1000": lambda: learn(1000),
    "a vocabulary_size too large ... most 24": lambda: learn(1000, kind="bpe"),
    "a vocabulary_size too small for the text ... least 10, one for each character, "
    "received vocabulary_size=5 ... a smaller character_coverage": lambda: learn(5),
}
LOAD_GOT = {  # TextProcessor.load
    "an unusable text.json ... Expecting value: line 1 column 1 ... "
    "/text.json'": lambda: load(change=lambda f: (f / "text.json").write_text("odd")),
    "an unusable text.json. Expected JSON with class_name, config and vocabulary_size, "
    "received the keys ['class_name', 'config', 'size', 'vocabulary_size'] "
    "in": lambda: load(size=5),
    "an unknown class ... 'Syllables' from": lambda: load(class_name="Syllables"),
    "an unusable folder. Expected a vocabulary.txt that fits its text.json, received "
    "from ... /text': ... argument 'lower'. "
    "Check": lambda: load(config={"lower": True}),
    "an unusable folder ... Words got a": lambda: load(config={"normalization": "nfd"}),
    "an unusable folder ... a duplicate": lambda: load(vocabulary=LINES + b"b\na\n"),
    "an unusable folder ... byte 0xff": lambda: load(vocabulary=LINES + b"\xff\n"),
    "an unusable folder ... without the special": lambda: load(vocabulary=b""),
    "an unusable folder ... a sentencepiece.model that fits ... corrupted "
    "model": lambda: load(change=cut_off, class_name="SentencePiece"),
    "a changed vocabulary ... 7 tokens ... received 5": lambda: load(vocabulary_size=7),
}
HEAT_MAP_GOT = {
    "an alignment that does not fit ... (2, 2)": lambda: heat_map("ab", "abc", EYE),
    "an alignment that does ... (1, 2, 2)": lambda: heat_map("ab", "ab", EYE[None]),
    "unusable source_tokens ... a list with Token(piece='a', start=0, end=1) ... call "
    "its heat_map": lambda: heat_map([ks.translator.Token("a", 0, 1)], "a", [[1.0]]),
    "unusable target_tokens ... with b'a'": lambda: heat_map("a", [b"a"], [[1.0]]),
    "an unknown color ... color='always'. Pass color=\"auto\" for colours in terminals "
    "only": lambda: heat_map("a", "a", EYE, color="always"),
    "an unusable width ... received width=0": lambda: heat_map("a", "a", EYE, width=0),
}
OTHERS = {
    "WordPiece got a vocabulary with a duplicate ... ids 4 and 6. Remove one of "
    "them": lambda: WordPiece([*SPECIAL, "a", "b", "a"]),
    "Characters got a vocabulary ... 'bc'": lambda: Characters([*SPECIAL, "a", "bc"]),
    "Characters got no texts ... received None": lambda: Characters.learn(None),
    "Characters got an unusable text ... ('a', 'b'). Pass one text per item; of pairs, "
    "pass pairs.source or pairs.target": lambda: Characters.learn([("a", "b")]),
    "Characters got one text ... 'the cat'": lambda: Characters.learn("the cat"),
    "Words.learn got an unusable vocabulary_size ... 5": lambda: Words.learn(["a"], 4),
    "Words.learn got an unknown argument ... 'lower'. Use 'lowercase'": lambda: (
        Words.learn(["a"], lower=True)
    ),
    "WordPiece.learn got an unusable vo ... 8": lambda: WordPiece.learn(["abc"], 7),
    "Words did not find a file ... 'no'": lambda: Words.learn_from_files(["no"]),
    "SentencePiece got nothing to learn from": lambda: SentencePiece.learn([], 10),
    "SentencePiece got an unusable model ... .model'": lambda: SentencePiece("a.model"),
    "SentencePiece got a corrupted ... 8 bytes": lambda: SentencePiece(b"nonsense"),
    "SentencePiece got a corrupted model ... 0 bytes": lambda: SentencePiece(b""),
    "SentencePiece got a model with other special tokens ... received ['<unk>', '<s>', "
    "'</s>', '▁'] ... pad_id=0": lambda: SentencePiece(foreign_model("aaab aab", 6)),
    "SentencePiece got an unusable nbest": lambda: SentencePiece(b"", nbest_size=0),
    "SentencePiece got an unusable alpha ... -1": lambda: SentencePiece(b"", alpha=-1),
    "SentencePiece.learn could not learn. Expected texts that the trainer accepts, "
    'received "INTERNAL': lambda: SentencePiece.learn(["a" * 70_000], 6),
    "Numbered got unusable special tokens. Expected SpecialTokens(pad, start, end, "
    "unknown) of ids from 0 to 2, received tokens=SpecialTokens(pad=0, start=1, end=2, "
    "unknown=7). Set": lambda: Numbered(["a", "b", "c"]),
    "TextProcessor.load did not find a file ... text.json": lambda: load(change=remove),
    "TextProcessor.load did not find a file ... vocabulary.txt ... /text'. Check the "
    "path": lambda: load(change=lambda folder: (folder / "vocabulary.txt").unlink()),
    "WordPiece.load got an unknown class ... 'Words'": lambda: load(WordPiece),
    **{
        f"{kind} cannot draw a random segmentation ... sample=True ... SentencePiece": (
            lambda kind=kind: learned(kind).encode("a", sample=True)
        )
        for kind in ("Characters", "Words", "WordPiece")
    },
    "Words needs a package that is not installed ... tensorflow-text, "
    'received ... pip install "tensorflow-text>=2.21.1,<2.22"; on Windows '
    "and Intel Macs, where it has no wheels, use Words or Characters with "
    "normalization=None": lambda: without(
        "tensorflow_text", lambda: words(normalization="nfc")
    ),
    "WordPiece needs a package that is not installed ... tensorflow-text, "
    "received": lambda: without("tensorflow_text", lambda: WordPiece([*SPECIAL, "a"])),
    "SentencePiece needs a package that is not installed ... "
    "tensorflow-text,": lambda: without("tensorflow_text", lambda: SentencePiece(b"")),
    "SentencePiece.learn needs a package that is not installed ... sentencepiece ... "
    'Run pip install "keras_seqattn[text]", or in a checkout pip install -e '
    '".[text]"': lambda: without("sentencepiece", lambda: learn(12)),
}


def vectors(content, vocabulary=("cat", "hat"), **options):
    path = Path(tempfile.mkdtemp(dir=".")) / "vectors.txt"
    path.write_bytes(content)
    word_vectors(path, list(vocabulary), **options)


BAD_LINE = "word_vectors cannot read line"
VECTORS = {
    "word_vectors got an unusable vocabulary ... received <keras_seqattn": lambda: (
        word_vectors("none", words())
    ),
    "word_vectors got an unusable vocabulary ... 'cat'. Pass one": lambda: word_vectors(
        "none", "cat"
    ),
    "word_vectors got an unusable units ... units=0": lambda: word_vectors(
        "none", ["a"], 0
    ),
    "word_vectors did not find a file ... 'none'": lambda: word_vectors("none", ["a"]),
    "word_vectors found no word of the vocabulary ... vectors of some of its 2 "
    "words": lambda: vectors(b"dog 1 2\n"),
    "word_vectors got vectors that do not fit the embedding ... 3 numbers, received 2 "
    "numbers": lambda: vectors(b"dog 1 2\n", units=3),
    "word_vectors got a file that is cut off. Expected 3 vectors, as its first line "
    "says, received 1 in": lambda: vectors(b"3 2\ncat 1 2\n"),
    "word_vectors got a damaged file ... a whole gzip file": lambda: vectors(
        gzip.compress(b"cat 1 2\n")[:-9]
    ),
    f"{BAD_LINE} 2 of ... a word and 2 numbers, received 3 of them": lambda: vectors(
        b"cat 1 2\nhat 1 2 3\n"
    ),
    f"{BAD_LINE} 1 of ... a word and 1 numbers, received an empty": lambda: vectors(
        b"\n"
    ),
    f"{BAD_LINE} 3 of ... UTF-8, received b'h": lambda: vectors(
        b"2 1\ncat 1\nh\xe4t 1\n"
    ),
    f"{BAD_LINE} 1 of ... numbers after the word ... 'x'": lambda: vectors(b"cat x 2"),
    f"{BAD_LINE} 1 of ... finite numbers, received NaN": lambda: vectors(b"cat nan 2"),
    f"{BAD_LINE} 1 of ... finite numbers, received NaN or": lambda: vectors(
        b"cat 1e99 2"
    ),
    f"{BAD_LINE} 1 of ... less than 131072 bytes, received a longer": lambda: vectors(
        b"cat" + b" 1" * 70_000
    ),
}


class Reversed(keras_hub.models.BertTokenizer):
    """A tokenizer that takes texts apart in another way."""

    def tokenize(self, inputs):
        return super().tokenize(inputs)[..., ::2]


def load_other_tokenizer():
    HubTokenizer(hub.bert_tokenizer()).save("hub")
    path = Path("hub/tokenizer.json")
    path.write_text(path.read_text().replace("keras_hub>BertTok", "keras_seqattn>Tok"))
    HubTokenizer.load("hub")


def hub_with(**options):
    return lambda: HubTokenizer(hub.bert_tokenizer(**options))


HUB_GOT = {
    "an unusable tokenizer ... received 'bert'": lambda: HubTokenizer("bert"),
    "a tokenizer with an option that it cannot use. Expected sequence_length=None, "
    "received sequence_length=4": hub_with(sequence_length=4),
    "a tokenizer with an option that it cannot use. Expected add_eos=False": lambda: (
        HubTokenizer(hub.t5_tokenizer(add_eos=True))
    ),
    "a tokenizer that does not return ids ... 'string'": hub_with(dtype="string"),
    "a tokenizer with an unusable vocabulary ... none in BertTokenizer": lambda: (
        HubTokenizer(keras_hub.models.BertTokenizer())
    ),
    "a tokenizer without special tokens that a model needs ... received GPT2Tokenizer "
    "without pad. Use": lambda: HubTokenizer(hub.gpt2_tokenizer()),
    "a tokenizer whose padding is also its start or end": lambda: HubTokenizer(
        hub.with_padding_at_the_end()
    ),
    "a tokenizer that cannot spell every text ... received 1 of them missing, "
    "e.g. 'Ń'": lambda: HubTokenizer(hub.roberta_tokenizer("other", bytes_left_out=1)),
    "use_start=True for a tokenizer without a start token ... received T5Tokenizer "
    "with start=1, end=1": lambda: HubTokenizer(hub.t5_tokenizer(), use_start=True),
}
OTHERS |= {
    "HubTokenizer cannot learn a vocabulary": lambda: HubTokenizer.learn(["a"]),
    "HubTokenizer does not know which bytes a token stands for ... received Reversed": (
        lambda: HubTokenizer(
            Reversed(hub.bert_tokenizer().get_vocabulary())
        ).encode_with_offsets("a b c")
    ),
    "HubTokenizer.load got an unusable folder ... no tokenizer that Keras "
    "knows": load_other_tokenizer,
    "HubTokenizer needs a package that is not installed ... keras-hub": lambda: without(
        "keras_hub", lambda: HubTokenizer(None)
    ),
}
GOT = {"Words": WORDS_GOT, "SentencePiece.learn": LEARN_GOT, "heat_map": HEAT_MAP_GOT}
GOT["TextProcessor.load"] = LOAD_GOT
GOT["HubTokenizer"] = HUB_GOT
GOT["train"] = {
    "an unusable kind of text ... 'words:9:bpe'": lambda: kind_of("words:9:bpe"),
    "an unusable kind of text ... received 'words:x'": lambda: kind_of("words:x"),
    "subwords without a size ... Write e.g. wordpiece": lambda: kind_of("wordpiece"),
}
ROWS = rows({f"{owner} got": table for owner, table in GOT.items()}, OTHERS, VECTORS)


@pytest.mark.parametrize("call, what, parts", ROWS, ids=[row.what for row in ROWS])
def test_error(call, what, parts):
    check_error(call, what, *parts)


def test_every_raise_is_tried():
    assert not untried(PACKAGE.glob("*.py"), [row.call for row in ROWS])
