"""The models and layers whose stored form is tested: small, all sizes different."""

import inspect
import re
import warnings

import keras
import numpy as np

from tests.contract.rows import ROWS as LAYER_ROWS
from tests.stored.project import sample, tensors, zoo
from tests.zoo.rows import ROWS as ZOO_ROWS

SIZES = {"source_vocabulary": 20, "target_vocabulary": 19, "embedding": 6, "units": 4}
SIZES |= {"attention_units": 5, "maxout": 3, "rank": 7, "heads": 2}
SOURCE = np.array([[4, 9, 14, 19, 2], [7, 5, 2, 0, 0], [18, 18, 4, 2, 0]], "int32")
TARGET = np.array([[1, 8, 12, 18], [1, 5, 0, 0], [1, 6, 17, 0]], "int32")
LABELS = np.array([[8, 12, 18, 2], [5, 2, 0, 0], [6, 17, 2, 0]], "int32")
INPUTS = {"source": SOURCE, "target": TARGET}
SEED = 1409

# Families of the zoo, and what their options make of them: `{name: (family, options)}`.
FAMILIES = {
    re.sub(r"\W+", "-", f"{family} {variant}".strip()): (family, options)
    for family, row in ZOO_ROWS.items()
    for variant, options in {"": {}, **row.variants}.items()
}
WEIGHTS = ("bahdanau2015", "luong2015", "gnmt2016")  # also stored without a model
LAYERS = {row.name: row for row in LAYER_ROWS}


def zoo_model(name, **sizes):
    family, options = FAMILIES[name]
    build = getattr(zoo, family)
    known = inspect.signature(build).parameters
    sizes = {**SIZES, **sizes}
    if options.get("tied") == "all":
        sizes["target_vocabulary"] = sizes["source_vocabulary"]
    sizes = {size: number for size, number in sizes.items() if size in known}
    return build("small", **{**sizes, **options})


def _quantized():
    model = enliven(zoo_model("luong2015"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras warns about layers without products
        model.quantize("int8")
    return model


def _half_precision():
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        return enliven(zoo_model("bahdanau2015"))
    finally:
        keras.config.set_dtype_policy(before)


# Models that compute in other ways, by the names of their files.
CHANGES = {"int8": _quantized, "bfloat16": _half_precision}


def enliven(model, seed=SEED):
    random = np.random.default_rng(seed)
    for weight in model.trainable_weights:
        noise = random.normal(scale=0.5, size=weight.shape)
        weight.assign(keras.ops.convert_to_numpy(weight) + noise)
    return model


def logits(model):
    return keras.ops.convert_to_numpy(model(INPUTS)).astype("float32")


class Holder(keras.Model):
    """Layers as attributes: the weights of each are stored under its own name.

    The names begin with "case_": Keras walks attributes in alphabetical order, and what
    comes after the attribute `layers` is stored by class names.
    """

    def __init__(self, layers):
        super().__init__()
        for name, layer in layers.items():
            setattr(self, f"case_{name}", layer)
        self.built = True


def build(layer, name):
    shapes = {
        f"{argument}_shape": keras.tree.map_structure(lambda x: x.shape, value)
        for argument, value in tensors(sample(LAYERS[name])).items()
    }
    wanted = inspect.signature(layer.build).parameters
    layer.build(**{shape: shapes[shape] for shape in wanted if shape in shapes})
    return layer


def results(layer, name):
    """What a layer of the row of this name makes of fixed arguments, a flat list."""
    found = layer(**sample(LAYERS[name]))
    return [keras.ops.convert_to_numpy(x) for x in keras.tree.flatten(found)]
