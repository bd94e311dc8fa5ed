"""A trained translator of Multi30k, and its weights by names that the rivals share.

KERAS_SEQATTN_RUN names the folder, that of a run of `seqattn train --corpus multi30k
--model caglayan2017 --set tied=all ...`, or one that `Translator.save` has written.
"""

import json
import os
from pathlib import Path

import numpy as np

import keras_seqattn as ks
from benchmarks.keras_weights import check_complete, gru_weights
from keras_seqattn.errors import four_part_error

RUN = "KERAS_SEQATTN_RUN"
LIMIT = 2, 10  # of a translation: twice its source, and 10 tokens more


def folder():
    """Return the folder with `translator.json`."""
    path = os.environ.get(RUN)
    if not path:
        raise four_part_error(
            "This benchmark needs a trained translator",
            f"its folder in {RUN}",
            "none",
            "Train one with seqattn train, as zoo/results/multi30k says, and name the "
            "folder of the run",
        )
    for found in (Path(path), Path(path, "translator")):
        if (found / "translator.json").exists():
            return found
    raise four_part_error(
        f"{RUN} names no translator",
        "the folder of a run of seqattn train, or one that Translator.save has written",
        f"{path!r}",
        "Check the path; a run has a translator after its first validation",
    )


def translator(search, shortlist=None):
    """Return the translator with a search and the greatest length of the rivals."""
    found = ks.Translator.load(folder())
    check(found)
    text, limit = found.source_text, ks.decoding.RelativeLength(LIMIT[0], plus=LIMIT[1])
    return ks.Translator(found.model, text, text, search, limit, shortlist=shortlist)


def sentence_piece():
    """Return the bytes of its SentencePiece."""
    return Path(folder(), "source_text", "sentencepiece.model").read_bytes()


def check(found):
    """Check that rivals support the model: one architecture, one SentencePiece."""
    model, text = found.model, found.source_text
    right = (
        isinstance(text, ks.text.SentencePiece)
        and text is found.target_text
        and isinstance(model.encoder, ks.layers.NormalizedEncoder)
        and isinstance(model.decoder.cell, ks.layers.ConditionalCell)
        and model.decoder.cell.cell == "gru"
        and model.head.embedding is not None
    )
    if not right:
        raise four_part_error(
            f"{RUN} names a translator that the rivals do not support",
            "caglayan2017 with tied embeddings and one SentencePiece for both sides",
            f"{model.name!r}, {type(text).__name__} and "
            f"{type(found.target_text).__name__}",
            "Train with --model caglayan2017 --set tied=all "
            "--text sentencepiece:8000:bpe --joint",
        )


def is_tokenized():
    """Whether the run was trained on tokenised text; True without a run."""
    run = folder().absolute().parent / "run.json"
    settings = json.loads(run.read_text())["settings"] if run.exists() else {}
    return settings.get("tokenized", True)


def test_set():
    """Return `Pairs` of test_2016_flickr, tokenised as in the run."""
    return ks.data.multi30k(tokenized=is_tokenized()).test


def bleu(texts, pairs):
    """Return BLEU; text that is not tokenised yet gets tokens of sacreBLEU."""
    return ks.metrics.bleu(texts, pairs.target, "none" if is_tokenized() else "13a")


def weights(model):
    """Return all weights of the model, arrays by name."""
    variables = _variables(model)
    check_complete(model, variables)
    return {name: _one_array(name, value) for name, value in variables.items()}


def _variables(model):
    """Return variables by name; a tuple is one array of a rival."""
    decoder, head = model.decoder.cell, model.head
    norm, [bridge] = model.encoder.norm, model.bridge.projections
    variables = {
        "source_embedding": model.source_embedding.embeddings,
        "target_embedding": model.target_embedding.embeddings,
        "norm.kernel": norm.gamma,
        "norm.bias": norm.beta,
        "bridge.kernel": bridge.kernel,
        "bridge.bias": bridge.bias,
        "key.kernel": decoder.attention.key_projection.kernel,
        "query.kernel": decoder.attention.query_projection.kernel,
        "score.kernel": decoder.attention.v,
        "hidden.kernel": (head.from_outputs.kernel, head.from_inputs.kernel),
        "hidden.bias": head.from_inputs.bias,
        "logits.bias": head.head.bias,
    }
    encoder = model.encoder.encoder
    for direction in ("forward", "backward"):
        [layer] = getattr(encoder, f"{direction}_layers")
        variables |= gru_weights(f"encoder.{direction}", layer.cell)
    for name, cell in zip(("first", "second"), decoder.cells, strict=True):
        read, recurrent = cell.input_kernel, cell.recurrent_kernel
        variables[f"{name}.kernel"] = read.kernel
        variables[f"{name}.recurrent_kernel"] = recurrent.kernel
        variables[f"{name}.bias"] = (read.bias, recurrent.bias)
    return variables


def _one_array(name, value):
    if isinstance(value, tuple):  # kernels below each other, biases as rows
        return np.concatenate([np.atleast_2d(part) for part in value])
    return np.reshape(value, (-1, 1)) if name == "score.kernel" else np.asarray(value)
