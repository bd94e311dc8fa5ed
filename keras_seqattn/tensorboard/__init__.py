"""Alignments, written for TensorBoard; `tensorboard_plugin_seqattn` shows them.

`callbacks.AttentionCallback` is for `model.fit`, the op `attention` for other loops,
`write_embeddings` for the projector. `picture_of` and `to_json` turn a translation
into the data of a page.
"""

from keras_seqattn.pictures.picture import picture_of, to_json
from keras_seqattn.tensorboard.projector import write_embeddings
from keras_seqattn.tensorboard.summary import attention

__all__ = [
    "attention",
    "picture_of",
    "to_json",
    "write_embeddings",
]
