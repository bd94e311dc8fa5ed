"""`export_saved_model`: a translator as a SavedModel from strings to strings."""

import os

import tensorflow as tf

from keras_seqattn import manifest as manifests
from keras_seqattn.checks import check_count
from keras_seqattn.export.cudnn import check_no_cudnn, without_cudnn
from keras_seqattn.export.manifest_content import check_entries, manifest_content
from keras_seqattn.export.signatures import signatures
from keras_seqattn.export.stored_weights import StoredWeights, check_kind
from keras_seqattn.export.warmup import requests_for, write_warmup
from keras_seqattn.files import replacing_folder

# Files of TensorFlow, of this module, and files that users add for TensorFlow Serving.
_NAMES = (
    *("saved_model.pb", "fingerprint.pb", "variables", "assets", "assets.extra"),
    manifests.NAME,
)


class _Served(tf.Module):
    """Owns what the graphs refer to: weights, and tables of the text processors."""

    def __init__(self, pipeline, weights):
        super().__init__()
        self.weights = weights
        self.source_text, self.target_text = pipeline.source_text, pipeline.target_text
        self.table = pipeline.table


def export_saved_model(
    pipeline, path, version=None, weights="float32", manifest=None, warmup=None
):
    """Write a SavedModel that needs only TensorFlow and tensorflow-text.

    All signatures take strings `[batch]` and return dense tensors, batch first, with
    lengths. These have the input `text`:

    - `serving_default` returns `text` and `score`, `[batch]`;
    - `translate_with_attention` returns the fields of `Translated`;
    - `nbest` returns the fields of `NBest`, with all hypotheses of a beam;
    - `encode` returns the fields of `EncodedTexts`.

    `score` has the inputs `source` and `target`, and returns the fields of
    `ScoredTexts`. Models that cannot be called on whole sentences do not have it.

    The search is a part of the graph, not an input: if each request had its own search
    options, a server could not put several requests into one batch. For another search
    export again. For another length penalty, the client can rank the hypotheses of
    `nbest` by their `scores` and `lengths`.

    The folder also gets `manifest.json`, which `manifest.verify` checks, and requests
    for the warm-up of TensorFlow Serving.

    Args:
        pipeline: `Pipeline`.
        path: path of a folder that does not exist, is empty, or holds an older
            SavedModel, which is replaced when the new one is complete.
        version: number of the version folder in `path`, as TensorFlow Serving expects
            it; other versions stay. None writes into `path` itself.
        weights: "float32", "bfloat16" or "int8", see `StoredWeights`.
        manifest: dict of further entries for `manifest.json`: `model` with `function`
            and `arguments`, `metrics`, and any others that JSON can hold.
        warmup: list of source sentences for the warm-up. None: some frequent words.
    """
    check_entries(manifest)
    check_kind(weights)
    if version is not None:
        check_count("export", "version", version, 1)
        path = os.path.join(path, str(version))
    with replacing_folder(path, "export", "SavedModel", _NAMES) as folder:
        stored = StoredWeights(pipeline.model, weights)
        traceable = signatures(pipeline, stored)
        with without_cudnn(pipeline.model):
            functions = {k: f.get_concrete_function() for k, f in traceable.items()}
        check_no_cudnn(functions)
        served = _Served(pipeline, stored)
        tf.saved_model.save(served, folder, signatures=functions)
        write_warmup(folder, requests_for(functions, pipeline, warmup))
        content = manifest_content(pipeline, weights, functions, manifest)
        manifests.write(folder, content)
