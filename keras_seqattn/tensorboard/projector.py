"""Embeddings with their tokens, written for TensorBoard's projector."""

import re

import numpy as np
import tensorflow as tf

from keras_seqattn.errors import four_part_error

_CONFIG = "projector_config.pbtxt"  # TensorBoard looks for it in the folder of each run


def write_embeddings(folder, vectors, labels, name="embedding"):
    """Writes vectors and their labels for the tab "Projector".

    Embeddings with other names that are already in the folder stay; those with the same
    name are replaced. Each number takes about 10 bytes.

    Args:
        folder: folder of a run: it has event files, and TensorBoard reads the folder
            above it.
        vectors: floats `[labels, depth]`, e.g. `model.source_embedding.embeddings`.
        labels: a str for each vector, e.g. the `vocabulary` of a `TextProcessor`.
        name: name of the files and in the tab: letters, digits, `-`, `_` and `.`.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_embeddings(folder, np.eye(2), ["one", "two"], name="numbers")
        ...     sorted(os.listdir(folder))
        ['numbers.metadata.tsv', 'numbers.tsv', 'projector_config.pbtxt']
    """
    vectors, labels = np.asarray(vectors, "float32"), list(labels)
    _check(vectors, labels, name)
    tf.io.gfile.makedirs(folder)
    lines = (f"{label(text)}\t{i}" for i, text in enumerate(labels))
    # With the number, no line is blank: the projector skips blank lines.
    _write(f"{folder}/{name}.metadata.tsv", ["token\tid", *lines])
    rows = ("\t".join(f"{x:.6g}" for x in row) for row in vectors.tolist())
    _write(f"{folder}/{name}.tsv", rows)
    _add_to_config(folder, name)


def write_vocabularies(folder, translator):
    """Write the embeddings of a translator's model, a shared one once."""
    model = translator.model
    sides = {"source": translator.source_text, "target": translator.target_text}
    if model.source_embedding is model.target_embedding:
        del sides["target"]
    for side, text in sides.items():
        embedding = getattr(model, f"{side}_embedding")
        write_embeddings(folder, embedding.embeddings, text.vocabulary, side)


def label(text):
    r"""Return a token as visible text in one field of one line.

    Example:
        >>> label(" "), label("a\tb"), label("▁der")
        ('␣', 'a\\tb', '▁der')
    """
    text = text.replace(" ", "␣")
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _write(path, lines):
    with tf.io.gfile.GFile(path, "w") as file:
        for line in lines:
            file.write(f"{line}\n")


def _add_to_config(folder, name):
    # Imported here, because only this function needs TensorBoard.
    from google.protobuf import text_format
    from tensorboard.plugins.projector import ProjectorConfig

    path, config = f"{folder}/{_CONFIG}", ProjectorConfig()
    if tf.io.gfile.exists(path):
        with tf.io.gfile.GFile(path, "r") as file:
            text_format.Parse(file.read(), config)
    others = [other for other in config.embeddings if other.tensor_name != name]
    del config.embeddings[:]
    config.embeddings.extend(others)
    config.embeddings.add(
        tensor_name=name,
        tensor_path=f"{name}.tsv",
        metadata_path=f"{name}.metadata.tsv",
    )
    _write(path, [text_format.MessageToString(config)])


def _check(vectors, labels, name):
    if vectors.ndim != 2 or len(vectors) != len(labels):
        raise four_part_error(
            "write_embeddings got labels that do not fit",
            "vectors [labels, depth] and a label for each vector",
            f"shape {vectors.shape} and {len(labels)} labels",
            "Pass the vocabulary that belongs to the embedding",
        )
    if not isinstance(name, str) or not re.fullmatch(r"[\w.-]+", name, re.ASCII):
        raise four_part_error(
            "write_embeddings got an unusable name",
            "letters, digits, -, _ and .",
            f"name={name!r}",
            "Pass another name, for example 'source': files get this name",
        )
