"""The contract: what every layer of the library promises, as functions that check it.

For a mechanism of your own, write one `Case` and call the checks on it:

    case = Case("Mine", lambda: Mine(8), attention_arguments, PADDED_ATTENTION)
    for check in checks_for(case):
        check(case)

A check raises `AssertionError` with the numbers when the promise is broken.
"""

import inspect
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf
from keras import tree

SEED = 20150409


class Case(NamedTuple):
    """A layer, and how to call it."""

    name: str
    make: Any  # () -> layer
    arguments: Any  # (rng, batch, source, target) -> call arguments, NumPy, padded
    padding: dict  # {argument: its mask argument}, for the arguments that have one
    stepwise: Any = None  # (layer, **arguments) -> what the call returns, by steps
    zeros: bool = True  # whether results are zero in the padding

    def __repr__(self):
        return self.name


# Calling ------------------------------------------------------------------------------


def sample(case, batch=4, source=7, target=5):
    """Call arguments, the same ones every time."""
    rng = np.random.default_rng(SEED)
    return case.arguments(rng, batch, source, target)


def tensors(arguments):
    """The arguments that are tensors, the others being options."""
    return {
        name: value
        for name, value in arguments.items()
        if all(isinstance(x, np.ndarray) for x in tree.flatten(value))
        and tree.flatten(value)
    }


def with_padding(case, arguments, filler):
    """The arguments with `filler` wherever a mask says padding."""
    filled = dict(arguments)
    for name, mask in case.padding.items():
        real = arguments[mask]
        real = real.reshape(real.shape + (1,) * (arguments[name].ndim - real.ndim))
        filled[name] = np.where(real, arguments[name], np.float32(filler))
    return filled


def with_more_padding(case, arguments, more):
    """The arguments with `more` padded positions, NaN, behind every sequence."""
    longer = dict(arguments)
    for name, mask in case.padding.items():
        widths = [(0, 0), (0, more)] + [(0, 0)] * (arguments[name].ndim - 2)
        longer[name] = np.pad(arguments[name], widths, constant_values=np.nan)
        longer[mask] = np.pad(arguments[mask], widths[:2])
    return longer


def one_row(case, arguments, row):
    """Row `row` alone, cut to its own length (at least one position)."""
    alone = {
        name: tree.map_structure(lambda x: x[row : row + 1], value)
        for name, value in tensors(arguments).items()
    }
    for name, mask in case.padding.items():
        length = max(1, int(arguments[mask][row].sum()))
        alone[name], alone[mask] = alone[name][:, :length], alone[mask][:, :length]
    return {**arguments, **alone}


def flat(outputs):
    """Outputs as a list of NumPy arrays."""
    return [keras.ops.convert_to_numpy(x) for x in tree.flatten(outputs)]


def built(case, arguments=None):
    """The layer with weights that are nowhere all zero or all one."""
    layer = case.make()
    layer(**(arguments or sample(case)))
    rng = np.random.default_rng(SEED + 1)
    for weight in layer.trainable_weights:
        noise = rng.normal(scale=0.2, size=weight.shape)
        weight.assign(keras.ops.convert_to_numpy(weight) + noise)
    return layer


def gradients(layer, arguments, function=None):
    """Outputs, and gradients of a fixed weighted sum of them.

    Returns:
        outputs as arrays, and a dict of gradients for every trainable weight and every
        float argument.
    """
    function = function or (lambda **arguments: layer(**arguments))
    floats, others = {}, {}
    for name, value in arguments.items():
        is_float = name in tensors(arguments) and all(
            x.dtype.kind == "f" for x in tree.flatten(value)
        )
        (floats if is_float else others)[name] = value
    with tf.GradientTape() as tape:
        floats = tree.map_structure(tf.constant, floats)
        tape.watch(tree.flatten(floats))
        outputs = function(**floats, **others)
        loss = weighted_sum(outputs)
    weights = [weight.value for weight in layer.trainable_weights]
    names = [weight.path for weight in layer.trainable_weights]
    wanted = weights + tree.flatten(floats)
    names += [
        f"{name}[{i}]" for name in floats for i, _ in enumerate(tree.flatten(floats[name]))
    ]
    found = tape.gradient(loss, wanted, unconnected_gradients="zero")
    found = [tf.convert_to_tensor(g).numpy() for g in found]
    return flat(outputs), dict(zip(names, found, strict=True))


def weighted_sum(outputs):
    """A scalar that depends on every entry of every float output in its own way."""
    total = 0.0
    for x in tree.flatten(outputs):
        if not x.dtype.is_floating:
            continue
        x = tf.cast(x, tf.float64 if x.dtype == tf.float64 else tf.float32)
        x = tf.reshape(x, [-1])
        total += tf.reduce_sum(x * tf.cos(tf.cast(tf.range(tf.size(x)), x.dtype)))
    return total


# Comparing ----------------------------------------------------------------------------


def same(expected, received, tolerance, what):
    """Raises unless the arrays agree to `tolerance` (0: bit by bit)."""
    if len(expected) != len(received):
        raise AssertionError(f"{what}: {len(expected)} outputs, then {len(received)}")
    for i, (e, r) in enumerate(zip(expected, received, strict=True)):
        if e.shape != r.shape:
            raise AssertionError(f"{what}: output {i} has shape {e.shape}, then {r.shape}")
        if e.size and not np.allclose(e, r, rtol=tolerance, atol=tolerance):
            worst = np.max(np.abs(np.subtract(e, r, dtype="float64")))
            raise AssertionError(f"{what}: output {i} differs by {worst:.3g}")


def same_gradients(expected, received, tolerance, what):
    """Raises unless the gradients agree, relative to the largest entry of each."""
    for name, e in expected.items():
        worst = np.max(np.abs(e - received[name]), initial=0.0)
        if not worst <= tolerance * max(1e-3, np.max(np.abs(e), initial=0.0)):
            raise AssertionError(f"{what}: gradient of {name} differs by {worst:.3g}")


def crop(outputs, like):
    """The outputs cut to the shapes of `like`."""
    return [
        x[tuple(slice(0, size) for size in small.shape)]
        for x, small in zip(outputs, like, strict=True)
    ]


# The promises -------------------------------------------------------------------------


def check_config(case):
    """`from_config(get_config())` is the same layer, nested layers included."""
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
    """All weights exist after `build`; calling adds nothing, not even an attribute."""
    layer, arguments = case.make(), sample(case)
    shapes = {
        f"{name}_shape": tree.map_structure(lambda x: x.shape, value)
        for name, value in tensors(arguments).items()
    }
    wanted = inspect.signature(layer.build).parameters
    layer.build(**{name: shapes[name] for name in wanted if name in shapes})
    weights, attributes = [w.path for w in layer.weights], set(dir(layer))
    layer(**arguments)
    if [w.path for w in layer.weights] != weights:
        raise AssertionError(f"{case}: built {weights}, then {layer.weights}")
    if set(dir(layer)) != attributes:
        raise AssertionError(f"{case}: calling added {set(dir(layer)) - attributes}")


def check_spec(case):
    """The symbolic shapes and dtypes are the real ones, sizes unknown or not."""
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
    """Saved in a Functional model and loaded again: equal bit by bit."""
    model, arguments = functional(case, built(case)), _flat_tensors(sample(case))
    reloaded = save_and_load(model)
    same(flat(model(arguments)), flat(reloaded(arguments)), 0, f"{case}, reloaded")


def check_quantized(case):
    """int8: quantised, saved and loaded again is equal bit by bit."""
    model, arguments = functional(case, built(case)), _flat_tensors(sample(case))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras warns about layers without products
        model.quantize("int8")
    reloaded = save_and_load(model)
    same(flat(model(arguments)), flat(reloaded(arguments)), 0, f"{case}, int8")


def check_modes(case):
    """Eager = graph = XLA."""
    arguments = sample(case)
    layer = built(case, arguments)
    options = {k: v for k, v in arguments.items() if k not in tensors(arguments)}
    eager = flat(layer(**arguments))
    for jit_compile in (False, True):
        compiled = tf.function(
            lambda given: layer(**given, **options), jit_compile=jit_compile
        )
        received = flat(compiled(tensors(arguments)))
        same(eager, received, 2e-5, f"{case}, jit_compile={jit_compile}")


def check_graph_gradients(case):
    """The compiled loop has the gradients of the Python loop."""
    arguments = sample(case)
    layer = built(case, arguments)
    graph = tf.function(lambda **given: layer(**given))
    expected, received = gradients(layer, arguments), gradients(layer, arguments, graph)
    same_gradients(expected[1], received[1], 1e-4, f"{case}, graph")


def check_stepwise(case):
    """A whole sequence = one step after the other, outputs and gradients."""
    arguments = sample(case)
    layer = built(case, arguments)
    whole = gradients(layer, arguments)
    steps = gradients(layer, arguments, lambda **given: case.stepwise(layer, **given))
    same(whole[0], steps[0], 1e-5, f"{case}, stepwise")
    same_gradients(whole[1], steps[1], 1e-4, f"{case}, stepwise")


def check_poison(case):
    """Padding may hold NaN: nobody can tell, not even the gradients."""
    arguments = sample(case)
    layer = built(case, arguments)
    clean = gradients(layer, with_padding(case, arguments, 0.0))
    poisoned = gradients(layer, with_padding(case, arguments, np.nan))
    same(clean[0], poisoned[0], 0, f"{case}, NaN in the padding")
    same_gradients(clean[1], poisoned[1], 0, f"{case}, NaN in the padding")


def check_longer_padding(case):
    """More padding changes nothing, and what it adds is zero."""
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
    """A row alone, without its padding, gives what it gives among others."""
    arguments = sample(case)
    layer = built(case, arguments)
    together = flat(layer(**arguments))
    for row in range(len(together[0])):
        alone = flat(layer(**one_row(case, arguments, row)))
        among = crop([x[row : row + 1] for x in together], alone)
        same(among, alone, 1e-5, f"{case}, row {row} alone")


def check_empty(case):
    """Nothing real in the source: finite everywhere, and the alignment is zero."""
    arguments = sample(case)
    for mask in case.padding.values():
        arguments[mask] = np.zeros_like(arguments[mask])
    layer = built(case, arguments)
    outputs, found = gradients(layer, with_padding(case, arguments, np.nan))
    if not all(np.isfinite(x).all() for x in [*outputs, *found.values()]):
        raise AssertionError(f"{case}: not finite where nothing is real")
    if arguments.get("return_attention_scores") and np.any(outputs[1]):
        raise AssertionError(f"{case}: attends although nothing is real")


def check_precision(case, policy):
    """Half precision: right dtypes, close to float32, finite gradients."""
    arguments = sample(case)
    full = built(case, arguments)
    half = _under_policy(case, policy, arguments)
    half.set_weights(full.get_weights())
    if {w.dtype for w in half.trainable_weights} - {"float32"}:
        raise AssertionError(f"{case}: weights of {policy} are not float32")
    given = with_padding(case, arguments, np.nan)
    for x in tree.flatten(half(**given)):
        if x.dtype.is_floating and x.dtype.name not in (half.compute_dtype, "float32"):
            raise AssertionError(f"{case}: {x.dtype} under {policy}")
    outputs, found = gradients(half, given)
    if not all(np.isfinite(x.astype("float32")).all() for x in found.values()):
        raise AssertionError(f"{case}: gradients under {policy} are not finite")
    tolerance = 0.01 if policy == "mixed_float16" else 0.06
    full_outputs = flat(full(**given))
    outputs = [x.astype(f.dtype) for x, f in zip(outputs, full_outputs, strict=True)]
    same(full_outputs, outputs, tolerance, f"{case}, {policy}")


def check_differences(case):
    """Gradients = finite differences, in float64."""
    wide = tree.map_structure(
        lambda x: (
            x.astype("float64")
            if isinstance(x, np.ndarray) and x.dtype.kind == "f"
            else x
        ),
        sample(case, batch=2, source=4, target=3),
    )
    layer = _under_policy(case, "float64", wide)
    rng = np.random.default_rng(SEED + 2)
    for weight in layer.trainable_weights:
        weight.assign(rng.normal(scale=0.5, size=weight.shape))
    _, found = gradients(layer, wide)
    step = 1e-6
    for weight in layer.trainable_weights:
        value = keras.ops.convert_to_numpy(weight)
        for _ in range(2):  # entries of every weight
            index = tuple(rng.integers(0, size) for size in value.shape)
            sums = []
            for sign in (1, -1):
                moved = value.copy()
                moved[index] += sign * step
                weight.assign(moved)
                sums.append(float(weighted_sum(layer(**wide))))
            weight.assign(value)
            expected = (sums[0] - sums[1]) / (2 * step)
            received = found[weight.path][index]
            if abs(expected - received) > 1e-6 * max(1, abs(expected)):
                raise AssertionError(
                    f"{case}: d/d {weight.path}{list(index)} is {expected:.9g} by "
                    f"differences, {received:.9g} by the gradient"
                )


def check_masks(case):
    """An explicit mask travels on with the first output."""
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
)


OF_PADDING = (check_poison, check_longer_padding, check_empty, check_masks)


def checks_for(case):
    """The checks that say something about this case."""
    return [
        check
        for check in CHECKS
        if (case.stepwise or check is not check_stepwise)
        and (case.padding or check not in OF_PADDING)
    ]


# Models -------------------------------------------------------------------------------


def symbolic(case, arguments, unknown=True):
    """Keras inputs for all tensors; batch and, for padded ones, length unknown."""
    timed = {*case.padding, *case.padding.values()}

    def symbol(name, x):
        if not unknown:
            return keras.Input(batch_shape=x.shape, dtype=x.dtype.name)
        shape = (None, *x.shape[2:]) if name in timed else x.shape[1:]
        return keras.Input(shape, dtype=x.dtype.name)

    return {
        name: tree.map_structure(lambda x, name=name: symbol(name, x), value)
        for name, value in tensors(arguments).items()
    }


def functional(case, layer):
    """A Functional model of this layer alone; its inputs and outputs are flat lists."""
    arguments = sample(case)
    inputs = symbolic(case, arguments)
    outputs = layer(**{**arguments, **inputs})
    return keras.Model(tree.flatten(list(inputs.values())), tree.flatten(outputs))


def save_and_load(model):
    """The model after a round trip through a `.keras` file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.keras"
        model.save(path)
        return keras.models.load_model(path)


def _flat_tensors(arguments):
    return tree.flatten(list(tensors(arguments).values()))


def _under_policy(case, policy, arguments):
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        layer = case.make()
        layer(**arguments)
        return layer
    finally:
        keras.config.set_dtype_policy(before)
