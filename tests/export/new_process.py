"""What somebody else does with what was written: run as a script, prints JSON.

python new_process.py FOLDER, in which are translator/, beam/, greedy/ and texts.json.
"""

import json
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401, its operations are in the graph


def served(folder, texts):
    """What both signatures say of a batch, and of each text alone."""
    model = tf.saved_model.load(folder)
    short = model.signatures["serving_default"]
    long = model.signatures["translate_with_attention"]

    def call(texts):
        texts = tf.constant(texts)
        return {**plain(short(text=texts)), **plain(long(text=texts))}

    return [call(texts), *(call([text]) for text in texts[:2])]


def plain(tensors):
    return {name: np.array(t.numpy()).tolist() for name, t in tensors.items()}


def texts_of(bytes_or_lists):
    """JSON has no bytes."""
    if isinstance(bytes_or_lists, bytes):
        return bytes_or_lists.decode()
    if isinstance(bytes_or_lists, list):
        return [texts_of(each) for each in bytes_or_lists]
    if isinstance(bytes_or_lists, dict):
        return {name: texts_of(each) for name, each in bytes_or_lists.items()}
    return bytes_or_lists


def main():
    folder = Path(sys.argv[1])
    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    found = {name: served(folder / name, texts) for name in ("beam", "greedy")}
    found["imports_the_library"] = "keras_seqattn" in sys.modules

    import keras_seqattn as ks

    translator = ks.Translator.load(folder / "translator")
    translations = translator(texts)
    found["translator"] = {"texts": translations.texts, "scores": translations.scores}
    print(json.dumps(texts_of(found)))


if __name__ == "__main__":
    main()
