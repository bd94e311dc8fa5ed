"""Checks of the arguments of `decode` and `score`."""

import tensorflow as tf
from keras import tree

from keras_seqattn.checks import nearest
from keras_seqattn.decoding.model_checks import source_pad_of
from keras_seqattn.decoding.relative_length import RelativeLength
from keras_seqattn.decoding.search import Search
from keras_seqattn.decoding.step_model import StepModel
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.types import SpecialTokens

_SEARCHES = {
    "Greedy": "Greedy()",
    "BeamSearch": "BeamSearch(5)",
    "Sample": "Sample(temperature=0.7)",
}


def check_model(owner, model):
    """Check that the model has the methods of a `StepModel`."""
    if isinstance(model, type) or not isinstance(model, StepModel):
        remedy = "Pass a Seq2Seq, an Ensemble, or a model of your own (see StepModel)"
        if isinstance(getattr(model, "model", None), StepModel):  # a translator
            remedy = "Pass its model: translator.model"
        raise four_part_error(
            f"{owner} got an unusable model",
            "an object with the methods start(source) and step(tokens, state, memory)",
            abbreviated(model),
            remedy,
        )


def as_special(owner, tokens):
    """Return `SpecialTokens` of what `decode` and `score` got; None: the usual ones."""
    if tokens is None:
        return SpecialTokens()
    if not isinstance(tokens, (list, tuple)) or len(tokens) != len(SpecialTokens()):
        raise four_part_error(
            f"{owner} got unusable tokens",
            "SpecialTokens(pad, start, end, unknown)",
            f"tokens={abbreviated(tokens)}",
            "Pass the tokens of the text processor, e.g. tokens=words.tokens",
        )
    return SpecialTokens(*tokens)


def as_tensor(x, pad):
    """Return a tensor; ragged ids are padded."""
    if isinstance(x, tf.RaggedTensor) and x.dtype.is_integer:
        return x.to_tensor(pad)
    return tf.convert_to_tensor(x)


def check_tokens(owner, model, tokens):
    """Check that padding is neither start nor end, and is the padding of the model."""
    if tokens.pad in (tokens.start, tokens.end):
        raise four_part_error(
            f"{owner} got special tokens that cannot be told apart",
            "a padding that is neither start nor end",
            tokens,
            "Give the padding an id of its own, because it is masked",
        )
    pad = getattr(model, "pad", tokens.pad)
    if pad != tokens.pad:
        raise four_part_error(
            f"{owner} got a padding that its model does not mask",
            f"pad={pad}",
            tokens,
            f"Pass tokens=SpecialTokens(pad={pad}, ...) with the other ids",
        )
    members = getattr(model, "models", ())  # of an ensemble
    for member in members:
        check_tokens(owner, member, tokens)
    source_pads = {source_pad_of(member, tokens.pad) for member in members}
    if len(source_pads) > 1:
        raise four_part_error(
            f"{owner} got models that pad their sources with different ids",
            "one source_pad for all models, because they read the same source",
            sorted(source_pads),
            "Build all of them with the same source_pad",
        )


def check_vocabulary(size, search, tokens):
    """Check that the end token and the forbidden tokens are in the vocabulary."""
    if size is None:
        raise four_part_error(
            "decode got logits of unknown size",
            "a vocabulary whose size is known when the graph is traced",
            "None as the last axis",
            "Return logits with a static shape, e.g. by tf.ensure_shape",
        )
    outside = [x for x in (tokens.end, *search.forbidden_tokens) if not 0 <= x < size]
    if outside:
        raise four_part_error(
            "decode got ids outside of the vocabulary",
            f"the end token and forbidden_tokens in [0, {size})",
            outside,
            "Check the SpecialTokens and the search",
        )


def check_search(owner, search, max_length, tokens):
    """Check the search and the maximum length, together and with the tokens."""
    if not isinstance(search, Search):
        raise four_part_error(
            f"{owner} got an unusable search",
            "Greedy(), Sample(...) or BeamSearch(...)",
            abbreviated(search),
            f"Pass an instance, e.g. {_nearest_search(search)}",
        )
    if not isinstance(max_length, (int, RelativeLength)) or isinstance(
        max_length, bool
    ):
        raise four_part_error(
            f"{owner} got an unusable max_length",
            "an integer or a RelativeLength",
            abbreviated(max_length),
            "Pass e.g. max_length=100",
        )
    if isinstance(max_length, int) and max_length < 1:
        raise four_part_error(
            f"{owner} got an unusable max_length",
            "1 or more",
            f"max_length={max_length}",
            "Count the end token as well",
        )
    bound = max_length if isinstance(max_length, int) else max_length.at_most
    if bound is not None and search.min_length > bound:
        raise four_part_error(
            f"{type(search).__name__} got contradictory options",
            "min_length <= max_length",
            f"min_length={search.min_length} and max_length={bound}",
            "Lower min_length or raise max_length",
        )
    if tokens.end in search.forbidden_tokens:
        raise four_part_error(
            f"{type(search).__name__} got contradictory options",
            "an end token that is not forbidden",
            f"forbidden_tokens={search.forbidden_tokens} and end={tokens.end}",
            "For hypotheses of a fixed length, use min_length",
        )


def _nearest_search(search):
    """Return the search that a name or a class probably means, as it is written."""
    written = search.__name__ if isinstance(search, type) else search
    return _SEARCHES[nearest(written, _SEARCHES) or "Greedy"]


def check_positions(model, max_length):
    """Check that a model with learned positions has as many as it may need."""
    models = (model, *getattr(model, "models", ()))
    known = {getattr(each, "max_length", None) for each in models} - {None}
    longest = getattr(max_length, "at_most", max_length)
    if known and (longest is None or longest > min(known)):
        raise four_part_error(
            "decode got a max_length beyond the positions that its model has learned",
            f"at most {min(known)}",
            max_length,
            f"Pass max_length={min(known)}, or a RelativeLength with "
            f"at_most={min(known)}",
        )


def check_source(owner, source):
    """Check that there is at least one sentence and one position, and no text."""
    for x in tree.flatten(source):
        if x.dtype == tf.string:
            raise four_part_error(
                f"{owner} got texts instead of token ids",
                "integers [batch, source]",
                f"strings of shape {tuple(x.shape)}",
                "Use a Translator, or encode the texts with a text processor and add "
                "the end token",
            )
        if len(x.shape) < 2 or 0 in x.shape[:2]:
            raise four_part_error(
                f"{owner} got an unusable source",
                "[batch, source] with at least one sentence and one position",
                f"shape {tuple(x.shape)}",
                "For an empty sentence, pass one position with padding; without "
                f"sentences, do not call {owner}",
            )


def check_ids(source, option, remedy):
    """Check that the source consists of ids, because an option of `decode` reads them.

    Args:
        source: nest of tensors.
        option: name of the option.
        remedy: last part of the message.
    """
    is_integer = isinstance(source, tf.Tensor) and source.dtype.is_integer
    if not is_integer or len(source.shape) != 2:
        raise four_part_error(
            f"decode got a {option} for a source without ids",
            "an integer tensor [batch, source]",
            tree.map_structure(lambda x: f"{x.dtype.name} {tuple(x.shape)}", source),
            remedy,
        )


def check_prefix(prefix, source, max_length, tokens, source_pad):
    """Check that a prefix fits the batch and the maximum, and has only real tokens."""
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
            "Pass one padded row for every sentence; a row of padding forces no token",
        )
    if not tf.executing_eagerly():
        return  # its values are not known yet
    lengths = tf.reduce_sum(tf.cast(prefix != tokens.pad, tf.int32), axis=1)
    is_inside = tf.range(prefix.shape[1]) < lengths[:, None]
    if not tf.reduce_all((prefix != tokens.pad) == is_inside):
        raise four_part_error(
            "decode got a prefix with padding in front of tokens",
            "padding after the last token only",
            f"{prefix.numpy().tolist()}",
            "Move the tokens to the front",
        )
    if tf.reduce_any((prefix == tokens.end) | (prefix == tokens.start)):
        raise four_part_error(
            "decode got a prefix with a start or end token",
            "no start and no end token",
            f"{prefix.numpy().tolist()} with start={tokens.start} and end={tokens.end}",
            "Drop them: decode begins with the start token itself, and no token "
            "follows the end token",
        )
    limits = max_length
    if isinstance(max_length, RelativeLength):
        limits = max_length.limits(source, source_pad)
    if tf.reduce_any(lengths > limits):
        raise four_part_error(
            "decode got a prefix longer than the maximum",
            f"at most {tf.get_static_value(tf.convert_to_tensor(limits)).tolist()} "
            "tokens",
            f"lengths {lengths.numpy().tolist()}",
            "Raise max_length",
        )


def check_forced(prefix, size, tokens):
    """Check that the tokens of a prefix are in the vocabulary of the model."""
    is_outside = (prefix < 0) | (prefix >= size)
    outside = prefix[is_outside & (prefix != tokens.pad)]
    if tf.size(outside):
        raise four_part_error(
            "decode got a prefix with ids outside of the vocabulary",
            f"ids in [0, {int(size)})",
            f"{outside.numpy().tolist()}",
            "Check that they are from the text processor of the targets",
        )


def mask_of(memory, search):
    """Return the mask of a memory; a coverage penalty needs one."""
    mask = getattr(memory, "mask", None)
    if mask is None and search.coverage_penalty:
        raise four_part_error(
            "BeamSearch got a coverage_penalty for a memory without a mask",
            "memory.mask [batch, source], True = real, from the model's start",
            "None",
            "Return a mask of True only when everything is real",
        )
    return mask
