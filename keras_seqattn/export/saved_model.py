"""The translator as a SavedModel: strings in, strings out, no Python in between."""

import os

import tensorflow as tf

from keras_seqattn import manifest as manifests
from keras_seqattn.checks import check_count
from keras_seqattn.export.description import check_own, describe
from keras_seqattn.export.portable import check_portable, without_cudnn
from keras_seqattn.export.signatures import signatures
from keras_seqattn.export.warmup import requests_for, write_warmup
from keras_seqattn.export.weights import StoredWeights, check_kind
from keras_seqattn.files import replacing_folder

# What TensorFlow writes, what is added here, and what people add to be served.
_NAMES = (
    *("saved_model.pb", "fingerprint.pb", "variables", "assets", "assets.extra"),
    manifests.NAME,
)


class _Served(tf.Module):
    """What the graphs refer to: the weights, the tables of the text processors."""

    def __init__(self, pipeline, weights):
        super().__init__()
        self.weights = weights
        self.source_text, self.target_text = pipeline.source_text, pipeline.target_text
        self.table = pipeline.table


def export_saved_model(
    pipeline, path, version=None, weights="float32", manifest=None, warmup=None
):
    """Writes a SavedModel that needs TensorFlow and tensorflow-text, and nothing else.

    All signatures take strings `[batch]` and return dense tensors, batch first, with
    lengths. Where the inputs are `text`:

    - `serving_default`: `text` and `score`, `[batch]`;
    - `translate_with_attention`: the fields of `Translated`;
    - `nbest`: those of `NBest`, for a beam all its hypotheses;
    - `encode`: those of `EncodedTexts`.

    And `score`, from `source` and `target` to the fields of `ScoredTexts`; a model that
    cannot be called on whole sentences has none.

    How to search is a part of the graph, not an input: numbers of one request would
    forbid a server to put several requests into a batch. For another search export
    again; another length penalty needs only `scores` and `lengths` of `nbest`.

    Beside it: `manifest.json`, which `manifest.verify` checks, and the requests with
    which TensorFlow Serving warms up.

    Args:
        pipeline: `Pipeline`.
        path: of a folder that does not exist, is empty, or holds an older SavedModel,
            which is replaced when the new one is whole.
        version: the SavedModel is written into a folder of this number in `path`, as
            TensorFlow Serving wants it; others there are left alone. None: into `path`.
        weights: "float32"; "bfloat16" or "int8": see `StoredWeights`.
        manifest: dict that `manifest.json` holds besides what can be found out: `model`
            with `function` and `arguments`, `metrics`, and whatever JSON can hold.
        warmup: list of source sentences to warm up with; None: some frequent words.
    """
    check_own(manifest)
    check_kind(weights)
    if version is not None:
        check_count("export", "version", version, 1)
        path = os.path.join(path, str(version))
    with replacing_folder(path, "export", "SavedModel", _NAMES) as folder:
        stored = StoredWeights(pipeline.model, weights)
        named = signatures(pipeline, stored)
        with without_cudnn(pipeline.model):
            functions = {name: f.get_concrete_function() for name, f in named.items()}
        check_portable(functions)
        served = _Served(pipeline, stored)
        tf.saved_model.save(served, folder, signatures=functions)
        write_warmup(folder, requests_for(functions, pipeline, warmup))
        manifests.write(folder, describe(pipeline, weights, functions, manifest))
