"""Metrics of the server, for Prometheus."""

import prometheus_client as prometheus

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
ROWS = [2**n for n in range(11)]


class Metrics:
    """Counters of one server, and of its process: memory, CPU seconds, open files."""

    headers = {"Content-Type": prometheus.CONTENT_TYPE_LATEST}

    def __init__(self):
        self.registry = prometheus.CollectorRegistry()
        prometheus.ProcessCollector(registry=self.registry)
        self._requests = self._metric(
            prometheus.Counter,
            "seqattn_requests",
            "Requests by endpoint and HTTP status",
            ["endpoint", "code"],
        )
        self._seconds = self._metric(
            prometheus.Histogram,
            "seqattn_request_seconds",
            "Seconds from the headers of a request to its answer",
            ["endpoint"],
            buckets=SECONDS,
        )
        self._batches = self._metric(
            prometheus.Histogram,
            "seqattn_batch_rows",
            "Rows in one batch",
            ["signature"],
            buckets=ROWS,
        )
        self._waiting = self._metric(
            prometheus.Gauge, "seqattn_waiting_rows", "Rows in the queue", ["lane"]
        )

    def _metric(self, metric_class, name, documentation, labels, **options):
        return metric_class(
            name, documentation, labels, registry=self.registry, **options
        )

    def request(self, endpoint, code, seconds):
        """Count a request."""
        self._requests.labels(endpoint, str(code)).inc()
        self._seconds.labels(endpoint).observe(seconds)

    def batch(self, signature, rows):
        """Count a batch."""
        self._batches.labels(signature.name).observe(rows)

    def watch(self, name, queue):
        """Report the number of waiting rows of a `BatchQueue`."""
        self._waiting.labels(name).set_function(lambda: queue.rows)

    def page(self):
        """Return all metrics in Prometheus's text format, bytes."""
        return prometheus.generate_latest(self.registry)
