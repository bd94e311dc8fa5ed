"""Read side of the TensorBoard attention tab.

TensorBoard imports its plugins when it starts, so nothing here may be slow or fail:
this package imports only the standard library and tensorboard.
"""
