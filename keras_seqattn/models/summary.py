"""The summary of a model: its parts, their options and their parameters."""

import inspect
import math

import keras

# Names of constructor arguments that a summary shows.
SIZES = ("input_dim", "output_dim", "vocabulary_size", "units")
WORDS = ("cell", "score", "merge", "inputs", "query", "readout")
COUNTS = ("layers", "residual_from", "heads", "factor", "pieces")
ALWAYS = ("cell", "score")  # even if they have their default


def summary_lines(model, parts):
    """Return the lines of a summary.

    Args:
        model: a model, for its name and the sums of parameters.
        parts: `[(name, layer, output)]`; the output is a text.
    """
    rows, counted = [], set()
    for name, layer, output in parts:
        rows.append([name, _describe(layer), output or "", _count(layer, counted)])
        for depth, inner in _inner_layers(layer):
            text = "  " * depth + _describe(inner)
            rows.append(["", text, "", f"({_total(inner):,})"])
    header = ["part", "layer", "output", "parameters"]
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(4)]

    def line(row):
        left = [cell.ljust(width) for cell, width in zip(row[:3], widths, strict=False)]
        return "  ".join([*left, row[3].rjust(widths[3])]).rstrip()

    trainable = sum(_size(v) for v in model.trainable_variables)
    frozen = sum(_size(v) for v in model.non_trainable_variables if _is_weight(v))
    total = f"{trainable + frozen:,} parameters"
    total += f", {frozen:,} of them frozen" if frozen else ""
    ruler = "-" * len(line(header))
    title = f"{type(model).__name__} {model.name!r}"
    return [title, line(header), ruler, *map(line, rows), ruler, total]


def _inner_layers(layer):
    """Yield the cell of a decoder and its attention mechanisms, with their depths."""
    inner, depth = layer, 0
    for attribute in ("cell", "attention", "attention"):
        inner = getattr(inner, attribute, None)
        if not isinstance(inner, keras.layers.Layer):
            return
        depth += 1
        yield depth, inner


def _describe(layer):
    """Return the class and main options, e.g. `BiEncoder(512, gru, layers=2)`."""
    config, options = layer.get_config(), []
    defaults = inspect.signature(type(layer).__init__).parameters
    for name in (*SIZES, *WORDS, *COUNTS):
        value = config.get(name)
        if isinstance(value, dict):
            value = value.get("class_name")
        is_default = name in defaults and defaults[name].default == value
        if not isinstance(value, (int, str)) or is_default and name not in ALWAYS:
            continue
        is_clear = isinstance(value, str) or name in SIZES  # without its name
        options.append(f"{value}" if is_clear else f"{name}={value}")
    return f"{type(layer).__name__}({', '.join(options)})"


def _count(layer, counted):
    """Return the number of parameters, without those that another part counts."""
    own = [v for v in layer.variables if _is_weight(v)]
    new = sum(_size(v) for v in own if id(v) not in counted)
    shared = any(id(v) in counted for v in own)
    counted.update(map(id, own))
    return f"{new:,}" + (" + shared" if shared else "")


def _total(layer):
    return sum(_size(v) for v in layer.variables if _is_weight(v))


def _is_weight(variable):
    return "seed_generator" not in variable.path


def _size(variable):
    return math.prod(variable.shape)
