"""Errors of the searches, before anything is computed."""

import tensorflow as tf
from keras import tree

from keras_seqattn.decoding.limits import RelativeLength
from keras_seqattn.decoding.protocol import StepModel
from keras_seqattn.decoding.search import Search
from keras_seqattn.errors import four_part_error


def check_model(model):
    """It can start and step."""
    if isinstance(model, type) or not isinstance(model, StepModel):
        raise four_part_error(
            "decode got an unusable model",
            "one with the methods start(source) and step(tokens, state, memory)",
            repr(model),
            "Pass a Seq2Seq, an Ensemble, or your own (see StepModel)",
        )


def check_tokens(owner, model, tokens):
    """Padding is a token of its own, and the one that the model masks."""
    if tokens.pad in (tokens.start, tokens.end):
        raise four_part_error(
            f"{owner} got special tokens that cannot be told apart",
            "a padding that is neither start nor end",
            tokens,
            "Give the padding an id of its own: it is masked",
        )
    pad = getattr(model, "pad", tokens.pad)
    if pad != tokens.pad:
        raise four_part_error(
            f"{owner} got another padding than its model",
            f"pad={pad}",
            tokens,
            f"Pass tokens=SpecialTokens(pad={pad}, ...) with the other ids",
        )
    for member in getattr(model, "models", ()):  # of an ensemble
        check_tokens(owner, member, tokens)


def check_vocabulary(size, search, tokens):
    """What shall end, or may not be chosen, exists."""
    if size is None:
        raise four_part_error(
            "decode got logits of unknown size",
            "a vocabulary that is known when the graph is made",
            "a last axis None",
            "Return logits with a static shape, e.g. by tf.ensure_shape",
        )
    strange = [x for x in (tokens.end, *search.forbidden_tokens) if not 0 <= x < size]
    if strange:
        raise four_part_error(
            "decode got ids outside of the vocabulary",
            f"the end token and forbidden_tokens in [0, {size})",
            strange,
            "Check the SpecialTokens and the search",
        )


def check_search(search, max_length, tokens):
    """Its options do not contradict each other, nor the rest."""
    if not isinstance(search, Search):
        raise four_part_error(
            "decode got an unusable search",
            "Greedy(), Sample(...) or BeamSearch(...)",
            repr(search),
            "Make one: a class is not enough",
        )
    owner = type(search).__name__
    if not isinstance(max_length, (int, RelativeLength)) or isinstance(
        max_length, bool
    ):
        raise four_part_error(
            "decode got an unusable max_length",
            "an integer or a RelativeLength",
            repr(max_length),
            "Pass e.g. max_length=100",
        )
    if isinstance(max_length, int) and max_length < 1:
        raise four_part_error(
            "decode got an unusable max_length",
            "1 or more",
            f"max_length={max_length}",
            "Count the end token, too",
        )
    bound = max_length if isinstance(max_length, int) else max_length.at_most
    if bound is not None and search.min_length > bound:
        raise four_part_error(
            f"{owner} got contradictory options",
            "min_length <= max_length",
            f"min_length={search.min_length} and max_length={bound}",
            "Lower the one or raise the other",
        )
    if tokens.end in search.forbidden_tokens:
        raise four_part_error(
            f"{owner} got contradictory options",
            "the end token among those that may be chosen",
            f"forbidden_tokens={search.forbidden_tokens} and end={tokens.end}",
            "For hypotheses of a fixed length use min_length",
        )


def check_source(owner, source):
    """There are sentences, and words in them."""
    for x in tree.flatten(source):
        if len(x.shape) < 2 or 0 in x.shape[:2]:
            raise four_part_error(
                f"{owner} got an unusable source",
                "[batch, source] with at least one sentence and one position",
                f"shape {tuple(x.shape)}",
                "For an empty sentence pass one padded position; for no sentence do "
                "not call",
            )


def check_ids(source, what, remedy):
    """A source for what counts ids, or looks them up."""
    ids = isinstance(source, tf.Tensor) and source.dtype.is_integer
    if not ids or len(source.shape) != 2:
        received = tree.map_structure(
            lambda x: f"{x.dtype.name} {tuple(x.shape)}", source
        )
        raise ValueError(
            f"decode got a {what} for a source without ids. Expected an integer tensor "
            f"[batch, source], received {received}. {remedy}"
        )


def check_prefix(prefix, source, max_length, tokens):
    """It fits the batch and the maximum, and does not end."""
    batch = tree.flatten(source)[0].shape[0]
    if (
        len(prefix.shape) != 2
        or None not in (prefix.shape[0], batch)
        and (prefix.shape[0] != batch)
    ):
        raise four_part_error(
            "decode got an unusable prefix",
            f"ids [batch, target] with batch = {batch}",
            f"shape {tuple(prefix.shape)}",
            "Pass one row for every sentence, padded; a row of padding forces nothing",
        )
    if not tf.executing_eagerly():
        return  # what is in it is not known yet
    lengths = tf.reduce_sum(tf.cast(prefix != tokens.pad, tf.int32), axis=1)
    last = tf.range(prefix.shape[1]) < lengths[:, None]
    if not tf.reduce_all((prefix != tokens.pad) == last):
        raise four_part_error(
            "decode got a prefix with padding in front of tokens",
            "padding after the last token only",
            f"{prefix.numpy().tolist()}",
            "Move the tokens to the front",
        )
    if tf.reduce_any((prefix == tokens.end) | (prefix == tokens.start)):
        raise four_part_error(
            "decode got a prefix with a start or end token",
            "words only",
            f"{prefix.numpy().tolist()} with start={tokens.start} and end={tokens.end}",
            "Drop it: the start is implied, and after the end nothing follows",
        )
    limits = max_length
    if isinstance(max_length, RelativeLength):
        limits = max_length.limits(source, tokens.pad)
    if tf.reduce_any(lengths > limits):
        raise four_part_error(
            "decode got a prefix longer than the maximum",
            f"at most {tf.get_static_value(tf.convert_to_tensor(limits)).tolist()} "
            "tokens",
            f"lengths {lengths.numpy().tolist()}",
            "Raise max_length",
        )


def check_forced(prefix, size, tokens):
    """The model knows the tokens of a prefix."""
    unknown = (prefix < 0) | (prefix >= size)
    strange = prefix[unknown & (prefix != tokens.pad)]
    if tf.size(strange):
        raise four_part_error(
            "decode got a prefix with ids outside of the vocabulary",
            f"ids in [0, {int(size)})",
            f"{strange.numpy().tolist()}",
            "Check which text processor they are from",
        )


def mask_of(memory, search):
    """The memory's mask, which a coverage penalty cannot do without."""
    mask = getattr(memory, "mask", None)
    if mask is None and search.coverage_penalty:
        raise four_part_error(
            "BeamSearch got a coverage_penalty for a memory without a mask",
            "memory.mask [batch, source], True = real, from the model's start",
            "None",
            "Return one of all True when everything is real",
        )
    return mask
