"""The decoding loop: the only one, whatever is searched and however."""

import dataclasses
from typing import Any, NamedTuple

import tensorflow as tf
from keras import tree

from keras_seqattn.decoding import checks
from keras_seqattn.decoding.candidates import candidates
from keras_seqattn.decoding.compiled import compiled
from keras_seqattn.decoding.hypotheses import advance, asked, follow
from keras_seqattn.decoding.leaving import Present, among_all, leave, put
from keras_seqattn.decoding.limits import RelativeLength
from keras_seqattn.decoding.protocol import can_select, look_ahead
from keras_seqattn.decoding.result import result
from keras_seqattn.decoding.search import begin
from keras_seqattn.decoding.shortlisted import check_shortlist, shortlisted
from keras_seqattn.types import SpecialTokens


@tf.autograph.experimental.do_not_convert
def decode(
    model,
    source,
    search,
    max_length,
    tokens=None,
    prefix=None,
    leaving=None,
    shortlist=None,
):
    """Searches for the targets of a batch of sources.

    One `tf.while_loop`. Called eagerly it is compiled once for each model, search and
    option (and once more where it pays to look ahead), for all batch sizes and lengths,
    and the target axis is as long as the longest hypothesis; inside a `tf.function` it
    becomes part of that, and the target axis is `max_length`, so that XLA can compile
    it.

    A finished hypothesis never changes. Lengths count the end token. Scores are
    log-probabilities under the model, as `score` computes them, whatever was forbidden
    or forced. Padding and start are never chosen, nor NaN; where nothing can be chosen
    there is no hypothesis: score -inf, length 0. Where a maximum length forbids what a
    minimum length demands, the maximum wins. Neither the order of the batch, nor
    what else is in it, nor its padding makes a difference (but `Sample` draws for a
    batch as a whole).

    Args:
        model: a `StepModel`: `Seq2Seq`, `Ensemble`, or your own. Variables and layers
            may change between calls, other attributes are those of the first one.
        source: what `model.start` takes, e.g. int ids `[batch, source]`.
        search: `Greedy()`, `Sample(...)` or `BeamSearch(...)`.
        max_length: the greatest length of a hypothesis, an integer or a
            `RelativeLength`; one that gets there without an end token stays without.
        tokens: `SpecialTokens`; None: `SpecialTokens()`.
        prefix: int ids `[batch, target]` that every hypothesis of the sentence begins
            with, padded; sentences with nothing but padding are free. None: all are.
            Inside a `tf.function` it is not checked.
        leaving: whether finished sentences may leave the batch: the result is the same,
            sooner. Without effect with a prefix, a memory without a mask, a model
            without `select`, or a search without `best_of` (`Sample`). XLA cannot
            compile it. None: they may if this is called eagerly.
        shortlist: `Shortlist` of the only tokens that have logits, where the model can
            `shorten`: quicker. Scores are then log-probabilities among these tokens,
            which depend on the batch. None: all tokens have logits.

    Returns:
        `Decoded(tokens, lengths, scores, ranking, alignments)`, `[batch, n_best, ...]`.

    Example:
        >>> embedding = keras.layers.Embedding(20, 4)
        >>> cell = BahdanauCell(8, attention=BahdanauAttention(8))
        >>> model = Seq2Seq(
        ...     source_embedding=embedding,
        ...     encoder=BiEncoder(8),
        ...     decoder=AttentionDecoder(cell),
        ...     head=OutputHead(20),
        ... )
        >>> source = keras.ops.array([[5, 6, 7, 2], [8, 2, 0, 0]])
        >>> decoded = decode(model, source, BeamSearch(4, n_best=2), max_length=6)
        >>> decoded.scores.shape
        TensorShape([2, 2])
    """
    tokens = SpecialTokens() if tokens is None else SpecialTokens(*tokens)
    checks.check_model(model)
    checks.check_tokens("decode", model, tokens)
    checks.check_search(search, max_length, tokens)
    source = as_tensors(source)
    checks.check_source("decode", source)
    if isinstance(max_length, RelativeLength):
        checks.check_ids(source, "RelativeLength", "Pass an integer as max_length.")
    if prefix is not None:
        prefix = tf.cast(prefix, tf.int32)
        checks.check_prefix(prefix, source, max_length, tokens)
        prefix = None if prefix.shape[1] == 0 else prefix
    if shortlist is not None:
        check_shortlist(shortlist, model, source, search, tokens, prefix)
    ahead = _pays_ahead(search, source, max_length) and hasattr(model, "look_ahead")
    if leaving is None:
        leaving = tf.executing_eagerly()
    # Who draws, draws for the batch as a whole.
    leaving = bool(leaving and can_select(model) and search.best_of and prefix is None)
    options = tokens, ahead, leaving, shortlist
    if not tf.executing_eagerly():
        seed = None if search.seed is None else search.seed % 2**31
        if leaving:  # the number of sentences is not always the same
            source = tree.map_structure(_of_any_batch, source)
        return _decode(model, source, search, max_length, prefix, seed, *options)[0]
    relative = isinstance(max_length, RelativeLength)
    # Neither another length nor another seed needs another graph.
    drawn = search.seed is not None
    seedless = dataclasses.replace(search, seed=0) if drawn else search
    key = ("decode", seedless, max_length if relative else None, *options)

    def run(model, source, max_length, seed, prefix=None):
        limit = key[2] if relative else max_length
        seed = seed if drawn else None
        arguments = source, seedless, limit, prefix, seed, *options
        decoded, vocabulary = _decode(model, *arguments, is_static=False)
        longest = tf.reduce_max(decoded.lengths)
        decoded = decoded._replace(
            tokens=decoded.tokens[..., :longest],
            alignments=decoded.alignments[..., :longest, :],
        )
        return decoded, vocabulary

    length = tf.constant(0 if relative else max_length)
    seed = tf.constant(search.seed % 2**31 if drawn else 0, tf.int32)
    given = (source, length, seed) if prefix is None else (source, length, seed, prefix)
    decoded, vocabulary = compiled(model, key, run)(*given)
    if prefix is not None and shortlist is None:  # which knows its vocabulary before
        checks.check_forced(prefix, vocabulary, tokens)
    return decoded


def as_tensors(source):
    """A source of lists is one tensor; of a dict, every value."""
    if isinstance(source, (list, tuple)) and not hasattr(source, "_fields"):
        return tf.convert_to_tensor(source)
    return tree.map_structure(tf.convert_to_tensor, source)


def _of_any_batch(x):
    return tf.compat.v1.placeholder_with_default(x, [None, *x.shape[1:]])


class _At(NamedTuple):
    """Where a search is."""

    t: Any  # number of the step, from 0
    mask: Any  # of the memory
    seed: Any  # one for the whole call, for those who draw


def _decode(
    model,
    source,
    search,
    max_length,
    prefix,
    seed,
    tokens,
    ahead,
    leaves,
    shortlist,
    is_static=True,
):
    state, memory = model.start(source)
    if ahead:
        memory = look_ahead(model, memory)
    ids = None
    if shortlist is not None:  # from here on, tokens are places in the ids
        ids, search, prefix = shortlisted(shortlist, source, search, tokens, prefix)
        memory = model.shorten(memory, ids)
    batch = tf.shape(tree.flatten(source)[0])[0]
    limits, max_length = _limits(max_length, source, batch, tokens)
    mask = checks.mask_of(memory, search)
    size = None if mask is None else tf.shape(mask)[1]
    everybody = Present(tf.range(batch), memory, limits, mask)
    now = begin(search, batch, size, max_length, tokens)
    if search.beam is not None:  # the state alone has an axis for the beam
        state = tree.map_structure(lambda x: _beside(x, search.beam), state)
    if seed is None:
        seed = tf.random.uniform([], maxval=2**31 - 1, dtype=tf.int32)
    rules = search, tokens, prefix

    with tf.__internal__.FuncGraph("one_step").as_default():  # never run
        *_, written, vocabulary = _one_step(
            tf.constant(0), now, state, everybody, model, seed, *rules
        )
    arrays = [
        tf.TensorArray(x.dtype, max_length, element_shape=x.shape) for x in written
    ]

    def body(t, now, state, arrays, leaving):
        present, last = leaving or (everybody, None)
        new, after, written, _ = _one_step(t, now, state, present, model, seed, *rules)
        if leaving:
            written = among_all(written, present.rows, batch)
            done = search.done(new, present.limits, present.mask)
            present, new, after, last = leave(model, done, present, new, after, last)
            leaving = present, last
        tree.map_structure(lambda x, old: x.set_shape(old.shape), after, state)
        tree.map_structure(lambda x, old: x.set_shape(old.shape), new, now)
        pairs = zip(arrays, written, strict=True)
        return t + 1, new, after, [array.write(t, x) for array, x in pairs], leaving

    def go_on(t, now, state, arrays, leaving):
        present = leaving[0] if leaving else everybody
        return ~tf.reduce_all(search.done(now, present.limits, present.mask))

    state = tree.map_structure(tf.convert_to_tensor, state)
    leaving = (everybody, now) if leaves and mask is not None else ()
    steps, now, _, arrays, leaving = tf.while_loop(
        go_on,
        body,
        (tf.constant(0), now, state, arrays, leaving),
        maximum_iterations=max_length,
    )
    if leaving:
        present, last = leaving
        now = put(last, present.rows, now)
    # XLA wants `max_length` steps; those that were not taken may be gigabytes of zeros.
    written = [a.stack() if is_static else a.gather(tf.range(steps)) for a in arrays]
    found = result(search, now, mask, steps, tokens, *written)
    if ids is not None:
        found = found._replace(tokens=tf.gather(ids, found.tokens))
    return found, vocabulary


def _one_step(t, now, state, present, model, seed, search, tokens, prefix):
    """New hypotheses, new state, what is kept of every step, and the vocabulary."""
    memory, limits, mask = present.memory, present.limits, present.mask
    output, alignment, state = model.step(now.tokens, state, memory)
    checks.check_vocabulary(output.shape[-1], search, tokens)
    logits = tf.cast(output, tf.float32)
    found = candidates(logits, search.best_of, now, t, search, tokens, prefix)
    if asked(now.coverage):
        now = now._replace(coverage=_cover(now, alignment))
    choice = search.choose(found, now, _At(t, mask, seed))
    new = advance(now, choice, t, limits, tokens)
    written = [new.tokens, alignment]
    if choice.parents is not None:
        state = tree.map_structure(lambda x: follow(x, choice.parents), state)
        written.append(choice.parents)
    return new, state, written, output.shape[-1]


def _cover(now, alignment):
    """The coverage after this step's alignment; a finished hypothesis is done."""
    alignment = tf.cast(alignment, tf.float32)
    for _ in range(len(alignment.shape) - len(now.coverage.shape)):
        alignment = tf.reduce_mean(alignment, axis=-2)  # over heads
    return now.coverage + tf.where(now.finished[..., None], 0.0, alignment)


# Rows from which a product no longer waits for its weights to come from memory.
_MANY_ROWS = 16


def _pays_ahead(search, source, max_length):
    """Whether to compute for all positions what a step would for each context.

    That is as much work where a source gets as many queries as it has positions. It is
    less waiting where the products of a step have few rows, which one hypothesis for
    each of many sentences has not.
    """
    batch, size = tree.flatten(source)[0].shape[:2]
    if search.beam is None and batch is not None and batch > _MANY_ROWS:
        return False
    if isinstance(max_length, RelativeLength) or size is None:
        return True
    return (search.beam or 1) * max_length >= size


def _limits(max_length, source, batch, tokens):
    """The greatest length of each sentence `[batch]`, and of all."""
    if isinstance(max_length, RelativeLength):
        limits = max_length.limits(source, tokens.pad)
        return limits, tf.reduce_max(limits)
    return tf.fill([batch], max_length), max_length


def _beside(x, count):
    """`[batch, count, ...]` of the same."""
    x = tf.convert_to_tensor(x)
    return tf.repeat(x[:, None], count, axis=1)
