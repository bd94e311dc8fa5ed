"""A new model like a trained one, for vocabularies of other sizes."""

import copy

import keras

from keras_seqattn.errors import four_part_error
from keras_seqattn.models import Seq2Seq
from keras_seqattn.translator.vocabulary_weights import check_known


def resized_model(trained, texts):
    """Return a model with new weights, and with the parts and sizes of a trained one.

    It computes in the global dtype policy, as every new model does.

    Args:
        trained: the trained `Translator`.
        texts: the text processors of the new model, source and target.
    """
    model = trained.model
    old = trained.source_text.vocabulary_size, trained.target_text.vocabulary_size
    new = [text.vocabulary_size for text in texts]
    _check(trained, texts)
    content = copy.deepcopy(keras.saving.serialize_keras_object(model))
    content.pop("compile_config", None)  # training starts with a new optimizer
    _replace_policy(content, model.dtype_policy.name, keras.config.dtype_policy().name)
    if isinstance(model, Seq2Seq):
        parts = content["config"]
        _resize(parts["source_embedding"], old[0], new[0])
        _resize([parts["target_embedding"], parts["head"]], old[1], new[1])
    return keras.saving.deserialize_keras_object(content)


def _resize(node, old, new):
    """Change the size of the vocabulary in all embeddings and heads of a part."""
    if isinstance(node, list):
        for item in node:
            _resize(item, old, new)
    elif isinstance(node, dict):
        is_embedding = "Embedding" in str(node.get("class_name"))
        name = "input_dim" if is_embedding else "vocabulary_size"
        config = node.get("config")
        if isinstance(config, dict) and config.get(name) == old:
            config[name] = new
        for item in node.values():
            _resize(item, old, new)


def _replace_policy(node, old, new):
    """Change the dtype policy of all layers that have the model's own."""
    if isinstance(node, list):
        for item in node:
            _replace_policy(item, old, new)
    elif isinstance(node, dict):
        if node.get("class_name") == "DTypePolicy" and node["config"]["name"] == old:
            node["config"] = {"name": new}
        for item in node.values():
            _replace_policy(item, old, new)


def _check(trained, texts):
    model = trained.model
    quantized = [x.name for x in model._flatten_layers() if x.quantization_mode]
    if quantized:
        raise four_part_error(
            "transfer got a quantised model, which cannot be trained",
            "weights that are floats",
            f"{quantized[0]!r} with integers",
            "Start from the translator that was quantised",
        )
    check_known(trained, texts)
    is_joint = texts[0].vocabulary == texts[1].vocabulary
    has_one = isinstance(model, Seq2Seq)
    has_one = has_one and model.target_embedding is model.source_embedding
    if has_one and not is_joint:
        raise four_part_error(
            "transfer got two vocabularies for a model with one embedding",
            "one vocabulary for both sides, as the trained translator has it",
            f"{texts[0].vocabulary_size} source tokens and {texts[1].vocabulary_size} "
            "target tokens",
            "Learn one vocabulary from both sides (in the command line with --joint)",
        )
