"""From names to text metrics that can be computed here."""

from keras_seqattn.metrics.text_metric import text_metric


def metrics(names):
    """A `TextMetric` for each name; a missing package is said before there is work."""
    found = [text_metric(name) for name in names]
    for metric in found:
        metric.check()
    return found
