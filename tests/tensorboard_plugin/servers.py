"""The real `tensorboard`, in a process of its own, on a loopback port."""

import http.client
import json
import re
import subprocess
import sys
import time
import urllib.parse

DEADLINE = 120  # seconds; it takes two or three
_ADDRESS = re.compile(r"TensorBoard \S+ at http://127\.0\.0\.1:(\d+)(\S*)/ ")


class Answer:
    """Code, headers and bytes of a response."""

    def __init__(self, response):
        self.code, self.headers = response.status, response.headers
        self.data = response.read()

    @property
    def json(self):
        assert self.code == 200, self.data
        return json.loads(self.data)


class Server:
    """Runs while the `with` lasts.

    Args:
        logdir: the folder of the logs.
        printed: a file for what it prints.
        flags: more of its command line.
    """

    def __init__(self, logdir, printed, flags=()):
        self.printed = printed
        command = [sys.executable, "-m", "tensorboard.main", f"--logdir={logdir}"]
        with open(printed, "wb") as stream:
            self.process = subprocess.Popen(
                [*command, "--host=127.0.0.1", "--port=0", *flags],
                stdout=stream,
                stderr=subprocess.STDOUT,
            )

    def __enter__(self):
        try:
            found = self.until(lambda: _ADDRESS.search(self.text()))
        except BaseException:
            self.__exit__()
            raise
        self.port, self.prefix = int(found[1]), found[2]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(DEADLINE)

    def text(self):
        """All that it has printed."""
        return self.printed.read_text(encoding="utf-8", errors="replace")

    def until(self, condition):
        """What the condition returns, once it is true."""
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end and self.process.poll() is None:
            if found := condition():
                return found
            time.sleep(0.05)
        raise TimeoutError(f"tensorboard did not get there. It says:\n{self.text()}")

    def get(self, path):
        """The path as it is: no client tidies it."""
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=DEADLINE
        )
        try:
            connection.request("GET", self.prefix + path)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def ask(self, route, **query):
        """A route of the plugin."""
        query = f"?{urllib.parse.urlencode(query)}" if query else ""
        return self.get(f"/data/plugin/seq_attention/{route}{query}")
