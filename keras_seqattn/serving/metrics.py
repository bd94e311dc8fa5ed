"""What Prometheus is told."""

import prometheus_client as prometheus

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
ROWS = [2**n for n in range(11)]


class Metrics:
    """Counters of one server; also of its process: memory, seconds, files."""

    headers = {"Content-Type": prometheus.CONTENT_TYPE_LATEST}

    def __init__(self):
        self.registry = prometheus.CollectorRegistry()
        prometheus.ProcessCollector(registry=self.registry)
        self._requests = self._made(
            prometheus.Counter,
            "seqattn_requests",
            "Requests by what they wanted and by the status of the answer",
            ["endpoint", "code"],
        )
        self._seconds = self._made(
            prometheus.Histogram,
            "seqattn_request_seconds",
            "From the head of a request to its answer",
            ["endpoint"],
            buckets=SECONDS,
        )
        self._batches = self._made(
            prometheus.Histogram,
            "seqattn_batch_rows",
            "Rows that were computed at once",
            ["signature"],
            buckets=ROWS,
        )
        self._waiting = self._made(
            prometheus.Gauge, "seqattn_waiting_rows", "Rows in the queue", ["lane"]
        )

    def _made(self, kind, name, documentation, labels, **options):
        return kind(name, documentation, labels, registry=self.registry, **options)

    def request(self, endpoint, code, seconds):
        """Counts a request."""
        self._requests.labels(endpoint, str(code)).inc()
        self._seconds.labels(endpoint).observe(seconds)

    def batch(self, signature, rows):
        """Counts a batch."""
        self._batches.labels(signature.name).observe(rows)

    def watch(self, name, lane):
        """Shows how many wait in a `Lane`."""
        self._waiting.labels(name).set_function(lambda: lane.rows)

    def page(self):
        """In Prometheus's text format, bytes."""
        return prometheus.generate_latest(self.registry)
