"""The contract of all layers of the library, as functions that check it.

For your own mechanism, write a `Case` and call the checks on it:

    case = Case("Mine", lambda: Mine(8), attention_arguments, PADDED_ATTENTION)
    for check in checks_for(case):
        check(case)

A check raises an `AssertionError` with numbers if a layer breaks the contract.
"""

import inspect
import warnings

import keras
import numpy as np
import tensorflow as tf
from keras import tree

from keras_seqattn.testing.case import (
    SEED,
    built,
    flat_tensors,
    functional,
    one_row,
    sample,
    save_and_load,
    symbolic,
    tensors,
    under_policy,
    with_more_padding,
    with_padding,
)
from keras_seqattn.testing.compare import (
    crop,
    flat,
    gradients,
    same,
    same_gradients,
    weighted_sum,
)
from keras_seqattn.testing.implementations import (
    check_implementations,
    number_of_parts,
)


def check_config(case):
    """Check that `from_config(get_config())` is the same layer, with inner layers."""
    layer = case.make()
    config = keras.saving.serialize_keras_object(layer)
    twin = keras.saving.deserialize_keras_object(config)
    again = keras.saving.serialize_keras_object(twin)
    if config != again:
        raise AssertionError(f"{case}: config {config} became {again}")
    shapes = []
    for each in (layer, twin):
        each(**sample(case))
        shapes.append([(weight.path, weight.shape) for weight in each.weights])
    if shapes[0] != shapes[1]:
        raise AssertionError(f"{case}: weights {shapes[0]} became {shapes[1]}")


def check_build(case):
    """Check that a call after `build` adds no weights and no attributes."""
    layer, arguments = case.make(), sample(case)
    shapes = {
        f"{name}_shape": tree.map_structure(lambda x: x.shape, value)
        for name, value in tensors(arguments).items()
    }
    names = inspect.signature(layer.build).parameters
    layer.build(**{name: shapes[name] for name in names if name in shapes})
    weights, attributes = [w.path for w in layer.weights], set(dir(layer))
    layer(**arguments)
    if [w.path for w in layer.weights] != weights:
        raise AssertionError(f"{case}: built {weights}, then {layer.weights}")
    if set(dir(layer)) != attributes:
        raise AssertionError(f"{case}: calling added {set(dir(layer)) - attributes}")


def check_spec(case):
    """Check that symbolic shapes and dtypes agree with the real ones."""
    layer, arguments = case.make(), sample(case)
    received = layer(**arguments)
    for unknown in (False, True):
        symbols = symbolic(case, arguments, unknown)
        spec = layer.compute_output_spec(**{**arguments, **symbols})
        tree.assert_same_structure(spec, received)
        for s, r in zip(tree.flatten(spec), tree.flatten(received), strict=True):
            sizes = zip(s.shape, r.shape, strict=True)
            if not all(a in (None, b) for a, b in sizes) or s.dtype != r.dtype.name:
                raise AssertionError(f"{case}: specified {s}, received {r}")


def check_saving(case):
    """Check that saving and loading changes no bit of the results."""
    model, arguments = functional(case, built(case)), flat_tensors(sample(case))
    reloaded = save_and_load(model)
    same(flat(model(arguments)), flat(reloaded(arguments)), 0, f"{case}, reloaded")


def check_quantized(case):
    """Check that saving and loading an int8 layer changes no bit of the results."""
    model, arguments = functional(case, built(case)), flat_tensors(sample(case))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras warns about layers without products
        model.quantize("int8")
    reloaded = save_and_load(model)
    same(flat(model(arguments)), flat(reloaded(arguments)), 0, f"{case}, int8")


def check_modes(case):
    """Check that eager = graph = XLA."""
    arguments = sample(case)
    layer = built(case, arguments)
    options = {k: v for k, v in arguments.items() if k not in tensors(arguments)}
    eager = flat(layer(**arguments))
    for jit_compile in (False, True):
        compiled = tf.function(
            lambda inputs: layer(**inputs, **options), jit_compile=jit_compile
        )
        received = flat(compiled(tensors(arguments)))
        same(eager, received, 2e-5, f"{case}, jit_compile={jit_compile}")


def check_graph_gradients(case):
    """Check that the loop in a graph has the gradients of the Python loop."""
    arguments = sample(case)
    layer = built(case, arguments)
    graph = tf.function(lambda **kwargs: layer(**kwargs))
    expected, received = gradients(layer, arguments), gradients(layer, arguments, graph)
    same_gradients(expected[1], received[1], 1e-4, f"{case}, graph")


def check_stepwise(case):
    """Check that a whole sequence = step by step, in outputs and gradients."""
    arguments = sample(case)
    layer = built(case, arguments)
    whole = gradients(layer, arguments)
    steps = gradients(layer, arguments, lambda **kwargs: case.stepwise(layer, **kwargs))
    same(whole[0], steps[0], 1e-5, f"{case}, stepwise")
    same_gradients(whole[1], steps[1], 1e-4, f"{case}, stepwise")


def check_poison(case):
    """Check that NaN in the padding changes neither outputs nor gradients."""
    arguments = sample(case)
    layer = built(case, arguments)
    clean = gradients(layer, with_padding(case, arguments, 0.0))
    poisoned = gradients(layer, with_padding(case, arguments, np.nan))
    same(clean[0], poisoned[0], 0, f"{case}, NaN in the padding")
    same_gradients(clean[1], poisoned[1], 0, f"{case}, NaN in the padding")


def check_longer_padding(case):
    """Check that more padding changes nothing, and adds only zeros."""
    arguments = with_padding(case, sample(case), 0.0)
    layer = built(case, arguments)
    short = flat(layer(**arguments))
    long = flat(layer(**with_more_padding(case, arguments, 3)))
    same(short, crop(long, short), 1e-5, f"{case}, longer padding")
    for x, inner in zip(long, short, strict=True) if case.zeros else ():
        extra = np.copy(x)
        extra[tuple(slice(0, size) for size in inner.shape)] = 0
        if np.any(extra):
            raise AssertionError(f"{case}: the padding of the result is not zero")


def check_batch(case):
    """Check that a row has the same results alone and in a batch."""
    arguments = sample(case)
    layer = built(case, arguments)
    together = flat(layer(**arguments))
    for row in range(len(together[0])):
        alone = flat(layer(**one_row(case, arguments, row)))
        among = crop([x[row : row + 1] for x in together], alone)
        same(among, alone, 1e-5, f"{case}, row {row} alone")


def check_empty(case):
    """Check that empty sequences give finite results and an alignment of zeros."""
    arguments = sample(case)
    for mask in case.padding.values():
        arguments[mask] = np.zeros_like(arguments[mask])
    layer = built(case, arguments)
    outputs, slopes = gradients(layer, with_padding(case, arguments, np.nan))
    if not all(np.isfinite(x).all() for x in [*outputs, *slopes.values()]):
        raise AssertionError(f"{case}: not finite for empty sequences")
    if arguments.get("return_attention_scores") and np.any(outputs[1]):
        raise AssertionError(f"{case}: attends to an empty source")


def check_precision(case, policy):
    """Check half precision: dtypes, results near float32, finite gradients."""
    arguments = sample(case)
    full = built(case, arguments)
    half = under_policy(case, policy, arguments)
    half.set_weights(full.get_weights())
    if {w.dtype for w in half.trainable_weights} - {"float32"}:
        raise AssertionError(f"{case}: weights of {policy} are not float32")
    padded = with_padding(case, arguments, np.nan)
    for x in tree.flatten(half(**padded)):
        if x.dtype.is_floating and x.dtype.name not in (half.compute_dtype, "float32"):
            raise AssertionError(f"{case}: {x.dtype} under {policy}")
    outputs, slopes = gradients(half, padded)
    if not all(np.isfinite(x.astype("float32")).all() for x in slopes.values()):
        raise AssertionError(f"{case}: gradients under {policy} are not finite")
    tolerance = 0.01 if policy == "mixed_float16" else 0.06
    full_outputs = flat(full(**padded))
    outputs = [x.astype(f.dtype) for x, f in zip(outputs, full_outputs, strict=True)]
    same(full_outputs, outputs, tolerance, f"{case}, {policy}")


def check_differences(case):
    """Check gradients against finite differences in float64, in random directions."""
    wide = tree.map_structure(
        lambda x: (
            x.astype("float64")
            if isinstance(x, np.ndarray) and x.dtype.kind == "f"
            else x
        ),
        # With 2 rows, each would have an empty source or an empty target.
        sample(case, batch=3, source=4, target=3),
    )
    layer = under_policy(case, "float64", wide)
    rng, step = np.random.default_rng(SEED + 2), 1e-6
    weights = {weight.path: weight for weight in layer.trainable_weights}
    values = {path: rng.normal(scale=0.5, size=w.shape) for path, w in weights.items()}

    def moved(direction, step):
        for path, weight in weights.items():
            weight.assign(values[path] + step * direction.get(path, 0.0))
        return layer

    def slopes(direction):
        ends = [moved(direction, sign * step)(**wide) for sign in (1, -1)]
        above, below = (float(weighted_sum(outputs)) for outputs in ends)
        by_gradient = sum(
            np.vdot(derivatives[path], d) for path, d in direction.items()
        )
        return (above - below) / (2 * step), by_gradient

    _, derivatives = gradients(moved({}, 0), wide)
    for _ in range(2):  # in each, every entry of every weight moves
        direction = {path: rng.normal(size=w.shape) for path, w in weights.items()}
        expected, received = slopes(direction)
        if not abs(expected - received) <= 1e-6 * max(1, abs(expected)):
            each = {path: slopes({path: d}) for path, d in direction.items()}
            raise AssertionError(
                f"{case}: along a random direction the slope is {expected:.9g} by "
                f"differences, {received:.9g} by the gradient; of each weight: {each}"
            )


def check_masks(case):
    """Check that the first output carries the explicit mask."""
    arguments = sample(case)
    first = tree.flatten(case.make()(**arguments))[0]
    mask = arguments[next(iter(case.padding.values()))]
    carried = getattr(first, "_keras_mask", None)
    if carried is None or carried.shape[0] != mask.shape[0]:
        raise AssertionError(f"{case}: the mask is lost")
    if carried.shape == mask.shape and not np.array_equal(carried, mask):
        raise AssertionError(f"{case}: the mask changed on the way")


CHECKS = (
    check_config,
    check_build,
    check_spec,
    check_saving,
    check_quantized,
    check_modes,
    check_graph_gradients,
    check_stepwise,
    check_poison,
    check_longer_padding,
    check_batch,
    check_empty,
    check_differences,
    check_masks,
    check_implementations,
)


OF_PADDING = (check_poison, check_longer_padding, check_empty, check_masks)


def checks_for(case):
    """Return the checks that apply to a case."""
    return [
        check
        for check in CHECKS
        if (case.stepwise or check is not check_stepwise)
        and (case.padding or check not in OF_PADDING)
        and (check is not check_implementations or number_of_parts(case))
    ]
