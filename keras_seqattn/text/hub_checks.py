"""Checks of a tokenizer of KerasHub, and its special tokens."""

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.types import SpecialTokens

OWNER = "HubTokenizer"
_OPTIONS = {  # options that would do what the library does itself, or hide a text
    "sequence_length": None,
    "add_bos": False,
    "add_eos": False,
    "split": True,
    "special_tokens_in_strings": False,
}


def check_tokenizer(hub, tokenizer):
    """Check that an object is a tokenizer with a vocabulary, which returns ids."""
    if not isinstance(tokenizer, hub.tokenizers.Tokenizer):
        raise four_part_error(
            f"{OWNER} got an unusable tokenizer",
            "a keras_hub.tokenizers.Tokenizer",
            abbreviated(tokenizer),
            "Pass e.g. keras_hub.models.BertTokenizer.from_preset(...); of a "
            "preprocessor pass its tokenizer",
        )
    for name, value in _OPTIONS.items():
        if getattr(tokenizer, name, value) != value:
            raise four_part_error(
                f"{OWNER} got a tokenizer with an option that it cannot use",
                f"{name}={value}",
                f"{name}={getattr(tokenizer, name)}",
                "Make the tokenizer without it: the library adds special tokens and "
                "padding itself",
            )
    if not str(tokenizer.compute_dtype).startswith("int"):
        raise four_part_error(
            f"{OWNER} got a tokenizer that does not return ids",
            'dtype="int32"',
            f"dtype={str(tokenizer.compute_dtype)!r}",
            "Make the tokenizer without dtype",
        )
    _check_vocabulary(tokenizer)


def _check_vocabulary(tokenizer):
    try:
        size = tokenizer.vocabulary_size()
    except (NotImplementedError, ValueError):  # it has none, or none yet
        size = 0
    ids = getattr(tokenizer, "vocabulary", None)
    ids = sorted(ids.values()) if isinstance(ids, dict) else range(size)
    if not size or list(ids) != list(range(size)):
        received = f"{size} pieces with ids up to {ids[-1]}" if size else "none"
        raise four_part_error(
            f"{OWNER} got a tokenizer with an unusable vocabulary",
            "a piece for each id from 0 on",
            f"{received} in {type(tokenizer).__name__}",
            "Give the tokenizer its whole vocabulary",
        )


def special_tokens(hub, tokenizer):
    """Return the `SpecialTokens` of a tokenizer."""
    found = {}
    for name in ("pad", "start", "end"):
        # GPT-2 has no padding, but a pad_token_id: the id of an ordinary token.
        is_known = getattr(tokenizer, f"{name}_token", None) is not None
        found[name] = getattr(tokenizer, f"{name}_token_id", None) if is_known else None
    missing = [name for name, value in found.items() if value is None]
    if missing:
        raise four_part_error(
            f"{OWNER} got a tokenizer without special tokens that a model needs",
            "a pad_token, a start_token and an end_token",
            f"{type(tokenizer).__name__} without {' and '.join(missing)}",
            "Use the tokenizer of an encoder, e.g. BERT's or RoBERTa's, or learn a "
            "vocabulary with SentencePiece",
        )
    if found["pad"] in (found["start"], found["end"]):
        raise four_part_error(
            f"{OWNER} got a tokenizer whose padding is also its start or end",
            "a padding with an id of its own, because it is masked",
            f"{found}",
            "Give the tokenizer a pad_token of its own",
        )
    return SpecialTokens(**found, unknown=_unknown(hub, tokenizer, found["pad"]))


def check_start(tokenizer, tokens):
    """Check that a text may begin with the start token."""
    if tokens.start == tokens.end:
        raise four_part_error(
            f"{OWNER} got use_start=True for a tokenizer without a start token",
            "a start_token that is not the end_token",
            f"{type(tokenizer).__name__} with start={tokens.start}, end={tokens.end}",
            "Drop use_start: its encoder was trained without a start token",
        )


def _unknown(hub, tokenizer, pad):
    """The id for what has no piece; byte-level BPE with all bytes never needs one."""
    if hasattr(tokenizer, "unk_token_id"):
        return tokenizer.unk_token_id
    if hasattr(tokenizer, "oov_token"):
        return tokenizer.token_to_id(tokenizer.oov_token)
    if not isinstance(tokenizer, hub.tokenizers.BytePairTokenizer):
        return tokenizer.token_to_id("<unk>")
    if "<unk>" in tokenizer.vocabulary:
        return tokenizer.token_to_id("<unk>")
    missing = [x for x in _spelled_bytes() if x not in tokenizer.vocabulary]
    if missing:
        raise four_part_error(
            f"{OWNER} got a tokenizer that cannot spell every text",
            "a piece for each of the 256 bytes, or a piece '<unk>'",
            f"{len(missing)} of them missing, e.g. {missing[0]!r}",
            "Add '<unk>' to the vocabulary",
        )
    return pad


def _spelled_bytes():
    """How byte-level BPE spells each byte: as a character that can be printed."""
    printed = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = [byte for byte in range(256) if byte not in printed]
    return [chr(byte) for byte in printed] + [chr(256 + i) for i in range(len(others))]
