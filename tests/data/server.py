"""A local server that replaces the public address of a corpus."""

import contextlib
import http.server
import threading


@contextlib.contextmanager
def serving(files, lie_about_length=False):
    """Serves `{path: bytes}`; yields its address and the list of the paths asked for.

    With `lie_about_length` fewer bytes come than announced: a broken connection.
    """
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            content = files.get(self.path)
            self.send_response(404 if content is None else 200)
            length = len(content or b"") + 100 * lie_about_length
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
