"""The translator as a SavedModel: strings in, strings out, no Python in between."""

import tensorflow as tf

from keras_seqattn.export.whole_folder import whole_folder

# What TensorFlow writes, and what people add to be served.
_NAMES = ("saved_model.pb", "fingerprint.pb", "variables", "assets", "assets.extra")
_TEXTS = tf.TensorSpec([None], tf.string, name="text")


class _Served(tf.Module):
    """What is written: the variables, the tables of the text processors, the graph."""

    def __init__(self, pipeline):
        super().__init__()
        self.variables_of_model = [v.value for v in pipeline.model.variables]
        self.source_text, self.target_text = pipeline.source_text, pipeline.target_text

        @tf.function(input_signature=[_TEXTS], autograph=False)
        def everything(text):
            count = tf.shape(text)[0]
            lent = tf.fill([tf.cast(count == 0, tf.int32)], "")  # a batch is not empty
            found = pipeline(tf.concat([text, lent], axis=0))
            return found._replace(**{k: v[:count] for k, v in found._asdict().items()})

        @tf.function(input_signature=[_TEXTS], autograph=False)
        def translate(text):
            best = everything(text)
            return {"text": best.texts[:, 0], "score": best.scores[:, 0]}

        @tf.function(input_signature=[_TEXTS], autograph=False)
        def translate_with_attention(text):
            # Dense and batch first, as TensorFlow Serving wants everything.
            return everything(text)._asdict()

        self.translate = translate
        self.translate_with_attention = translate_with_attention


def export_saved_model(pipeline, path):
    """Writes a SavedModel that needs TensorFlow and tensorflow-text, and nothing else.

    Signatures: `serving_default`, from `text`, strings `[batch]`, to `text` and
    `score`; `translate_with_attention`, from the same to all of `Translated`.

    Args:
        pipeline: `Pipeline`.
        path: of a folder that does not exist, is empty, or holds an older SavedModel,
            which is replaced when the new one is whole.
    """
    served = _Served(pipeline)
    with whole_folder(path, "export", "SavedModel", _NAMES) as folder:
        tf.saved_model.save(
            served,
            folder,
            signatures={
                "serving_default": served.translate,
                "translate_with_attention": served.translate_with_attention,
            },
        )
