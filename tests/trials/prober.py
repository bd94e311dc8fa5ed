"""`python -m tests.trials.prober PORT`: how long /healthz takes, at worst.

A process of its own, so that the loop of the load is not measured. It asks every
50 ms on a new connection until its standard input ends, and writes JSON.
"""

import http.client
import json
import select
import sys
import time

EVERY = 0.05  # seconds


def main():
    port, worst, count, errors = int(sys.argv[1]), 0.0, 0, []
    while not select.select([sys.stdin], [], [], EVERY)[0]:
        start = time.monotonic()
        try:
            status = ask(port)
            if status != 200:
                errors.append(f"status {status}")
        except OSError as error:
            errors.append(repr(error))
        worst, count = max(worst, time.monotonic() - start), count + 1
    print(json.dumps({"worst": worst, "count": count, "errors": errors[:5]}))


def ask(port):
    """The status of /healthz."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", "/healthz")
        reply = connection.getresponse()
        reply.read()
        return reply.status
    finally:
        connection.close()


if __name__ == "__main__":
    main()
