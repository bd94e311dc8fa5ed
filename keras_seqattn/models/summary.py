"""A model on one screen: its parts, what is in them, and how large they are."""

import inspect
import math

import keras

SIZES = ("input_dim", "output_dim", "vocabulary_size", "units")
WORDS = ("cell", "score", "merge", "inputs", "query", "readout")
NUMBERS = ("layers", "residual_from", "heads", "factor", "pieces")
ALWAYS = ("cell", "score")  # however usual


def summary_lines(model, parts):
    """The lines of a summary.

    Args:
        model: a model, for its name and its sums.
        parts: `[(name, layer, output)]`, the output in words.
    """
    rows, counted = [], set()
    for name, layer, output in parts:
        rows.append([name, _said(layer), output or "", _count(layer, counted)])
        for depth, inner in _inside(layer):
            rows.append(["", "  " * depth + _said(inner), "", f"({_total(inner):,})"])
    head = ["part", "what", "output", "parameters"]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(4)]

    def line(row):
        left = [cell.ljust(width) for cell, width in zip(row[:3], widths, strict=False)]
        return "  ".join([*left, row[3].rjust(widths[3])]).rstrip()

    trainable = sum(_size(v) for v in model.trainable_variables)
    frozen = sum(_size(v) for v in model.non_trainable_variables if _learned(v))
    total = f"{trainable + frozen:,} parameters"
    total += f", {frozen:,} of them frozen" if frozen else ""
    ruler = "-" * len(line(head))
    title = f"{type(model).__name__} {model.name!r}"
    return [title, line(head), ruler, *map(line, rows), ruler, total]


def _inside(layer):
    """The cell and the mechanism, which say what a decoder is."""
    inner, depth = layer, 0
    for attribute in ("cell", "attention", "attention"):
        inner = getattr(inner, attribute, None)
        if not isinstance(inner, keras.layers.Layer):
            return
        depth += 1
        yield depth, inner


def _said(layer):
    """Class and what matters, e.g. `BiEncoder(512, gru, layers=2)`."""
    config, said = layer.get_config(), []
    defaults = inspect.signature(type(layer).__init__).parameters
    for name in (*SIZES, *WORDS, *NUMBERS):
        value = config.get(name)
        if isinstance(value, dict):
            value = value.get("class_name")
        usual = name in defaults and defaults[name].default == value
        if not isinstance(value, (int, str)) or usual and name not in ALWAYS:
            continue
        bare = isinstance(value, str) or name in SIZES
        said.append(f"{value}" if bare else f"{name}={value}")
    return f"{type(layer).__name__}({', '.join(said)})"


def _count(layer, counted):
    """Its parameters; what was counted before is shared."""
    own = [v for v in layer.variables if _learned(v)]
    new = sum(_size(v) for v in own if id(v) not in counted)
    shared = any(id(v) in counted for v in own)
    counted.update(map(id, own))
    return f"{new:,}" + (" + shared" if shared else "")


def _total(layer):
    return sum(_size(v) for v in layer.variables if _learned(v))


def _learned(variable):
    return "seed_generator" not in variable.path


def _size(variable):
    return math.prod(variable.shape)
