"""Pictures in a page of their own: no server, no network, one file."""

import base64
import hashlib
import html
import importlib.resources
import re

from keras_seqattn.pictures.picture import to_json

_FIRST = "page.js"
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z_]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(async )?(function|const|class) )", re.MULTILINE)
# At the start of a line they are never inside a string (a test compares).
_COMMENT = re.compile(r"^[ ]*(/\*.*?\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)
_INDENTATION = re.compile(r"^[ \n]+", re.MULTILINE)
# The script that runs is named by its checksum: whatever a token says, nothing else
# runs, and nothing is fetched.
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; img-src data: blob:; script-src 'sha256-{checksum}'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<div id="page"></div>
<script type="application/json" id="pictures">[{pictures}]</script>
<script type="module">{script}</script>
</body>
</html>
"""
_FRAME = (
    '<iframe srcdoc="{page}" title="{title}" loading="lazy" '
    'style="width: 100%; height: {height}px; border: 0"></iframe>'
)


def page(pictures, title="Attention"):
    """A HTML page that shows pictures; it needs no other file and no network.

    Args:
        pictures: list of what `picture_of` returns.
        title: str.

    Returns:
        str, to be written in UTF-8.
    """
    script = modules(_FIRST)
    script += '\nshowPage(document.getElementById("page"), JSON.parse(\n'
    script += '  document.getElementById("pictures").textContent,\n));\n'
    digest = hashlib.sha256(script.encode()).digest()
    return _PAGE.format(
        checksum=base64.b64encode(digest).decode(),
        title=html.escape(title),
        style=_squeezed(_static("viewer.css") + _static("page.css")),
        pictures=",\n".join(map(to_json, pictures)),
        script=script,
    )


def frame(page, title="Attention", height=760):
    """The page in a cell of a notebook, closed in: its style and names stay inside.

    It grows to the height of its content where the notebook lets it.
    """
    page, title = html.escape(page), html.escape(title)
    return _FRAME.format(page=page, title=title, height=height)


def modules(first):
    """A module with all that it imports, as one: each behind those that it needs.

    Args:
        first: name of a file in the plugin's folder. Its modules have named exports
            only, and no name twice, so that they can stand in one file.

    Returns:
        str, without imports and exports.
    """
    found = {}

    def add(name):
        if name in found:
            return
        text = _static(name)
        found[name] = None  # a cycle ends here
        for needed in _IMPORT.findall(text):
            add(needed)
        del found[name]
        found[name] = _EXPORT.sub("", _IMPORT.sub("", text)).strip()

    add(first)
    return "\n".join(map(_squeezed, found.values()))


def _squeezed(text):
    """Without comments and indentation: every cell of a notebook holds a copy."""
    return _INDENTATION.sub("", _COMMENT.sub("", text))


def _static(name):
    folder = importlib.resources.files("tensorboard_plugin_seqattn") / "static"
    return (folder / name).read_text(encoding="utf-8")
