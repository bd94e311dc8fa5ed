"""The configuration of a `Seq2Seq` in files: its parts, and what they share."""

import keras

from keras_seqattn.layers.parts.nested_layers import deserialize_part, serialize_part

PARTS = (
    "source_embedding",
    "encoder",
    "bridge",
    "target_embedding",
    "decoder",
    "head",
)


def config_of(model):
    """Return the arguments of a model, its parts serialized."""
    parts = {name: getattr(model, name) for name in PARTS}
    if model.target_embedding is model.source_embedding:
        parts["target_embedding"] = None
    return {
        **{name: x if x is None else serialize_part(x) for name, x in parts.items()},
        # The embedding that the head is tied to, to tie it in a loaded model, too.
        "head_embedding": _tie(model),
        "source_word_dropout": model.source_words.rate,
        "target_word_dropout": model.target_words.rate,
        "pad": model.pad,
        "source_pad": None if model.source_pad == model.pad else model.source_pad,
        "outputs": model.named_outputs or "logits",
        "seed": model.seed,
    }


def arguments_of(config):
    """Return the arguments of the constructor, from those of `config_of`."""
    config = {**config}
    tie, head = config.pop("head_embedding", None), config.pop("head")
    for name in PARTS:
        if config.get(name) is not None:
            config[name] = deserialize_part(config[name])
    if tie is not None:  # otherwise the head would create another embedding
        head = {**head, "config": {**head["config"], "embedding": config[tie]}}
    return {**config, "head": keras.saving.deserialize_keras_object(head)}


def _tie(model):
    """Return the name of the embedding that the head has, too, or None."""
    embedding = getattr(model.head, "embedding", None)
    for name in ("source_embedding", "target_embedding"):
        if embedding is not None and embedding is getattr(model, name):
            return name
    return None
