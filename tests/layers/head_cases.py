"""What the tests of the heads share: the logits in NumPy."""

import numpy as np


def logits_by_hand(head, x):
    if head.embedding is None:
        x = x @ np.asarray(head.projection.kernel)
    else:
        if head.to_embedding is not None:
            x = x @ np.asarray(head.to_embedding.kernel)
        x = x @ np.asarray(head.embedding.embeddings).T
    return x if head.bias is None else x + np.asarray(head.bias)
