"""Layers that are arguments of other layers, which own them: built, saved, loaded."""

import copy

import keras

from keras_seqattn.errors import four_part_error


def build_part(owner, part, *shapes):
    """Build a layer that was passed to the constructor of its owner."""
    name = type(owner).__name__
    if part.built:
        raise four_part_error(
            f"{name} got a part that has its weights already",
            f"a new {type(part).__name__}",
            f"{part.name!r} with built=True",
            "Make one for every owner; to share weights, call the whole layer twice",
        )
    if part.compute_dtype != owner.compute_dtype:
        raise four_part_error(
            f"{name} got a part of another dtype",
            f"{type(part).__name__} to compute in {owner.compute_dtype}",
            part.compute_dtype,
            "Give both the same dtype, or none and keras.config.set_dtype_policy(...)",
        )
    part.build(*shapes)


def serialize_part(layer):
    """The configuration of a layer whose owner builds it."""
    config = keras.saving.serialize_keras_object(layer)
    config.pop("build_config", None)  # built alone it would get another path
    return config


def deserialize_part(config):
    """The layer, from a copy: Keras's `StackedRNNCells` empties the dict it gets."""
    return keras.saving.deserialize_keras_object(copy.deepcopy(config))
