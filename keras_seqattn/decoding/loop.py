"""Search for target sentences, token by token: the one loop of all searches.

A search keeps one or more hypotheses for every source sentence, a beam search `width`
of them. They begin empty, with the start token as their last token. One step
(`_take_step`):

1. The model reads the last token of every hypothesis. It returns logits of the next
   token, an alignment and its new state.
2. Each hypothesis gets its candidates: the most probable tokens that it may choose, and
   their log-probabilities.
3. The search chooses among the candidates of all hypotheses of a sentence. Each choice
   is a token and the parent that it continues. A beam search takes the `width` choices
   with the best sums of log-probabilities, penalties included.
4. The chosen tokens are appended. A hypothesis is finished after the end token or at
   its greatest length; a finished hypothesis never changes.
5. The model's state follows the parents: if two choices continue one parent, both get
   its state.

The loop writes down tokens, alignments and parents of each step. It ends when every
sentence is done. Then `build_decoded` goes back through the parents and collects the
tokens and alignments of the best hypotheses.
"""

import dataclasses
from typing import Any, NamedTuple

import tensorflow as tf
from keras import tree

from keras_seqattn.decoding import checks, model_state
from keras_seqattn.decoding.active_batch import (
    ActiveBatch,
    gather_all,
    scatter,
    shrink,
)
from keras_seqattn.decoding.candidates import TokenRules, find_candidates
from keras_seqattn.decoding.compiled_functions import compiled
from keras_seqattn.decoding.decoded import StepRecord, build_decoded
from keras_seqattn.decoding.hypotheses import (
    StepInfo,
    add_coverage,
    advance,
    initial_hypotheses,
    is_tracked,
)
from keras_seqattn.decoding.search_request import make_request
from keras_seqattn.decoding.shortlist_places import to_places


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
    """Search for the targets of a batch of sources.

    The search is one `tf.while_loop`. An eager call compiles it once for each model,
    search and set of options (and once more if it pays to precompute), for all batch
    sizes and lengths; the target axis is as long as the longest hypothesis. Inside a
    `tf.function` the loop becomes part of that function, and the target axis is
    `max_length`, so that XLA can compile it.

    A finished hypothesis never changes. Lengths count the end token. Scores are
    log-probabilities under the model, as `score` computes them; forbidden and forced
    tokens do not change them. Padding, the start token and tokens with NaN are never
    chosen. If no token can be chosen there is no hypothesis: score -inf, length 0. If
    the maximum length contradicts `min_length`, the maximum wins. The result of a
    sentence does not depend on the order of the batch, on the other sentences in it, or
    on its padding (except for `Sample`, which draws for a batch as a whole).

    Args:
        model: a `StepModel`: `Seq2Seq`, `Ensemble`, or your own. Variables and layers
            may change between eager calls; other attributes are read at the first call.
        source: what `model.start` takes, e.g. int ids `[batch, source]`.
        search: `Greedy()`, `Sample(...)` or `BeamSearch(...)`.
        max_length: the greatest length of a hypothesis, an integer or a
            `RelativeLength`. A hypothesis that reaches it ends without an end token.
        tokens: `SpecialTokens` of the target; None: `SpecialTokens()`. Sources are
            padded with `model.source_pad`, or with `tokens.pad` if the model has none.
        prefix: int ids `[batch, target]`, padded: all hypotheses of a sentence begin
            with its row. A row of padding forces no token. None: no row does. Inside a
            `tf.function` the ids are not checked.
        leaving: whether finished sentences may leave the batch: faster, with the same
            result. It has no effect with a prefix, a memory without a mask, a model
            without `select`, or a search without `best_of` (`Sample`). XLA cannot
            compile it. None: True in an eager call, else False.
        shortlist: `Shortlist` of the tokens that get logits, for a model with
            `shorten`: faster. Scores are then log-probabilities among these tokens,
            which depend on the batch. None: all tokens get logits.

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
    request = make_request(
        model,
        source,
        search,
        max_length,
        tokens=tokens,
        prefix=prefix,
        leaving=leaving,
        shortlist=shortlist,
    )
    if tf.executing_eagerly():
        return _decode_eagerly(model, *request)
    inputs, options = request
    if options.may_shrink:  # the batch size will not stay the same
        source = tree.map_structure(_with_any_batch_size, inputs.source)
        inputs = inputs._replace(source=source)
    decoded, _ = _search(model, inputs, options, is_static=True)
    return decoded


def _decode_eagerly(model, inputs, options):
    """Return the `Decoded` of a graph that is compiled once for model and options."""
    if inputs.has_seed:  # another seed needs no other graph
        search = dataclasses.replace(options.search, seed=0)
        options = options._replace(search=search)

    def run(model, inputs):
        decoded, vocabulary = _search(model, inputs, options, is_static=False)
        longest = tf.reduce_max(decoded.lengths)
        decoded = decoded._replace(
            tokens=decoded.tokens[..., :longest],
            alignments=decoded.alignments[..., :longest, :],
        )
        return decoded, vocabulary

    inputs = tree.map_structure(tf.convert_to_tensor, inputs)
    if hasattr(model, "check_ids"):
        model.check_ids(inputs.source)
    decoded, vocabulary = compiled(model, ("decode", options), run)(inputs)
    if inputs.has_prefix and options.shortlist is None:  # else `make_request` did it
        checks.check_forced(inputs.prefix, vocabulary, options.special)
    return decoded


def _with_any_batch_size(x):
    return tf.compat.v1.placeholder_with_default(x, [None, *x.shape[1:]])


def _search(model, inputs, options, is_static):
    """Return the `Decoded` of a search and the size of the vocabulary; graph code.

    Args:
        model: `StepModel`.
        inputs: `SearchInputs`.
        options: `SearchOptions`.
        is_static: whether the target axis is `max_length`, as XLA needs it.
    """
    prefix = inputs.prefix if inputs.has_prefix else None
    rules = TokenRules(options.search, options.special, prefix)
    room = inputs.max_length if is_static and not options.may_shrink else None
    room = room if isinstance(room, int) else None
    state, memory = model_state.start(model, inputs.source, room)
    if options.precomputes:
        memory = model.precompute(memory)
    ids = None
    if options.shortlist is not None:  # from here on, tokens are places in `ids`
        sources = inputs.source, options.source_pad
        ids, rules = to_places(options.shortlist, *sources, rules)
        memory = model.shorten(memory, ids)
    search, special, _ = rules
    batch = tf.shape(tree.flatten(inputs.source)[0])[0]
    limits, max_length = _length_limits(inputs, options, batch)
    mask = checks.mask_of(memory, search)
    source_size = None if mask is None else tf.shape(mask)[1]
    now = initial_hypotheses(search, batch, source_size, max_length, special)
    whole = ActiveBatch(tf.range(batch), memory, limits, mask, finished=now)
    state = model_state.with_beam(state, search.beam)  # the memory has no such axis
    seed = inputs.seed
    if not inputs.has_seed:
        seed = tf.random.uniform([], maxval=2**31 - 1, dtype=tf.int32)
    loop = _Loop(model, rules, seed, max_length, options.may_shrink)
    steps, now, arrays, vocabulary = _run(loop, whole, now, state)
    # Without XLA, only steps that were taken get room: the others may be gigabytes.
    records = tree.map_structure(
        lambda x: x.stack() if is_static else x.gather(tf.range(steps)), arrays
    )
    decoded = build_decoded(search, now, mask, steps, special.pad, records)
    if ids is not None:
        decoded = decoded._replace(tokens=tf.gather(ids, decoded.tokens))
    return decoded, vocabulary


class _Loop(NamedTuple):
    """The values that no step changes."""

    model: Any
    rules: TokenRules
    seed: Any  # int32 scalar
    max_length: Any  # number of steps at most
    may_shrink: bool  # whether finished sentences may leave the batch


def _run(loop, whole, now, state):
    """Take steps until every sentence is done.

    Args:
        loop: `_Loop`.
        whole: `ActiveBatch` of all sentences.
        now: `Hypotheses` before the first step.
        state: of the model.

    Returns:
        the number of steps, the final `Hypotheses`, a `StepRecord` of `TensorArray`s,
        and the size of the vocabulary.
    """
    search, batch = loop.rules.search, tf.size(whole.rows)
    with tf.__internal__.FuncGraph("shapes").as_default():  # never run
        first = _take_step(loop, tf.constant(0), now, state, whole)
    arrays = tree.map_structure(
        lambda x: tf.TensorArray(x.dtype, loop.max_length, element_shape=x.shape),
        first.record,
    )

    def body(t, now, state, arrays, shrinking):
        active = shrinking or whole
        new, new_state, record, _ = _take_step(loop, t, now, state, active)
        if shrinking:
            record = scatter(record, active.rows, batch)
            done = search.done(new, active.limits, active.mask)
            shrinking, new, new_state = shrink(loop.model, done, active, new, new_state)
        _keep_shapes(new_state, state)
        _keep_shapes(new, now)
        arrays = tree.map_structure(lambda x, y: x.write(t, y), arrays, record)
        return t + 1, new, new_state, arrays, shrinking

    def is_any_open(t, now, state, arrays, shrinking):
        active = shrinking or whole
        return ~tf.reduce_all(search.done(now, active.limits, active.mask))

    shrinking = whole if loop.may_shrink and whole.mask is not None else ()
    steps, now, _, arrays, shrinking = tf.while_loop(
        is_any_open,
        body,
        (tf.constant(0), now, state, arrays, shrinking),
        maximum_iterations=loop.max_length,
    )
    if shrinking:
        now = gather_all(shrinking, now)
    return steps, now, arrays, first.vocabulary


class _Taken(NamedTuple):
    """The results of one step."""

    now: Any  # `Hypotheses` after the step
    state: Any  # of the model
    record: StepRecord
    vocabulary: int  # its size


def _take_step(loop, t, now, state, active):
    """Take step `t` with all active sentences: see the start of this file."""
    search, special, _ = loop.rules
    logits, alignment, state = loop.model.step(now.tokens, state, active.memory)  # 1.
    vocabulary = logits.shape[-1]
    checks.check_vocabulary(vocabulary, search, special)
    logits = tf.cast(logits, tf.float32)
    candidates = find_candidates(logits, search.best_of, now, t, loop.rules)  # 2.
    if is_tracked(now.coverage):
        now = add_coverage(now, alignment)
    choice = search.choose(candidates, now, StepInfo(t, active.mask, loop.seed))  # 3.
    now = advance(now, choice, t, active.limits, special)  # 4.
    parents = ()
    if choice.parents is not None:
        parents = choice.parents
        state = model_state.follow(state, parents)  # 5.
    return _Taken(now, state, StepRecord(now.tokens, alignment, parents), vocabulary)


def _keep_shapes(new, old):
    """Set the static shapes of new tensors to those of the old ones."""
    tree.map_structure(lambda x, y: x.set_shape(y.shape), new, old)


def _length_limits(inputs, options, batch):
    """Return the greatest length of each sentence `[batch]`, and of all."""
    if options.relative_length is not None:
        pad = options.source_pad
        limits = options.relative_length.limits(inputs.source, pad)
        return limits, tf.reduce_max(limits)
    return tf.fill([batch], inputs.max_length), inputs.max_length
