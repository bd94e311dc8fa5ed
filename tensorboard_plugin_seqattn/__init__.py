"""The TensorBoard tab "Attention": it reads alignments from logs and shows them.

TensorBoard imports its plugins when it starts, so the import must be quick and must not
fail: this package imports only the standard library and tensorboard.
"""
