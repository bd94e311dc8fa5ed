"""The files of the tab, as they were when TensorBoard started."""

import importlib.resources

TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def static_files():
    """What may be served: a dict, route to `(content, content_type)`.

    It is all in memory, so that no request opens a file, whatever it asks for.
    """
    folder = importlib.resources.files(__package__) / "static"
    return {
        f"/{file.name}": (file.read_bytes(), TYPES[suffix])
        for file in folder.iterdir()
        for suffix in TYPES
        if file.name.endswith(suffix) and file.is_file()
    }
