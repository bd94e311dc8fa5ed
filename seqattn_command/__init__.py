"""The command `seqattn`: its options and help, without Keras and TensorFlow.

This package imports the standard library only, so that help and errors of options
appear at once. What the verbs do is in `keras_seqattn.cli`, which is imported when the
options are parsed.
"""

from seqattn_command.command import main

__all__ = ["main"]
