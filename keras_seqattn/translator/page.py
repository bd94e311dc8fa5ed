"""An HTML page with pictures of attention, in one file without a server."""

import base64
import hashlib
import html
import importlib.resources
import re

from keras_seqattn.pictures.picture import to_json

_FIRST = "page.js"
_STYLES = ("viewer.css", "sentences.css", "page.css")
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z_]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(async )?(function|const|class) )", re.MULTILINE)
# Comments begin a line, so they are not inside of strings (a test checks this).
_COMMENT = re.compile(r"^[ ]*(/\*.*?\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)
_INDENTATION = re.compile(r"^[ \n]+", re.MULTILINE)
# Only the script with this checksum may run, and nothing may be fetched. So tokens
# cannot inject code.
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
    """Return an HTML page that shows pictures without other files or a network.

    Args:
        pictures: list of pictures, from `picture_of`.
        title: str.

    Returns:
        str; write it in UTF-8.
    """
    script = modules(_FIRST)
    script += '\nshowPage(document.getElementById("page"), JSON.parse(\n'
    script += '  document.getElementById("pictures").textContent,\n));\n'
    digest = hashlib.sha256(script.encode()).digest()
    return _PAGE.format(
        checksum=base64.b64encode(digest).decode(),
        title=html.escape(title),
        style=_minified("".join(map(_static, _STYLES))),
        pictures=",\n".join(map(to_json, pictures)),
        script=script,
    )


def frame(page, title="Attention", height=760):
    """Return the page in an iframe, so that its style does not change the notebook.

    It grows to the height of its content if the notebook allows this.
    """
    page, title = html.escape(page), html.escape(title)
    return _FRAME.format(page=page, title=title, height=height)


def modules(first):
    """Return a JavaScript module and its imports as one script, imports first.

    Args:
        first: name of a file in the plugin's folder. All modules have named exports
            only, and no name twice, so that they fit into one file.

    Returns:
        str, without imports and exports.
    """
    texts = {}

    def add(name):
        if name in texts:
            return
        text = _static(name)
        texts[name] = None  # so that a cycle of imports ends
        for imported in _IMPORT.findall(text):
            add(imported)
        del texts[name]  # append it after its imports
        texts[name] = _EXPORT.sub("", _IMPORT.sub("", text)).strip()

    add(first)
    return "\n".join(map(_minified, texts.values()))


def _minified(text):
    """Remove comments and indentation: every cell of a notebook holds a copy."""
    return _INDENTATION.sub("", _COMMENT.sub("", text))


def _static(name):
    folder = importlib.resources.files("tensorboard_plugin_seqattn") / "static"
    return (folder / name).read_text(encoding="utf-8")
