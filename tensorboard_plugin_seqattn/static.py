"""The files of the tab, read once when TensorBoard starts."""

import importlib.resources

TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def static_files():
    """Return all files that are served: `{route: (content, content_type)}`.

    They are in memory, so that no request can open a file.
    """
    folder = importlib.resources.files(__package__) / "static"
    return {
        f"/{file.name}": (file.read_bytes(), TYPES[suffix])
        for file in folder.iterdir()
        for suffix in TYPES
        if file.name.endswith(suffix) and file.is_file()
    }
