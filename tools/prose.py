"""Check the texts of the project: python -m tools.prose

In every Markdown file but the cards in saved_models/ (tools/ship.py writes them, and
their checksums are stored), a line has at most 88 characters. Three things may be
longer: tables (lines that begin with `|`), code between fences, and lines that are
short enough without the addresses of their links. README.md has at most 900 words and
no line above 120 characters, not even in tables.

In Markdown, and in the Python and JavaScript files of WORD_PATHS, no words of
tools/words.txt are used. Of Markdown, code is left out; of Python, only strings and
comments are read. What stands between `<!-- measured: ... -->` and `<!-- end: ... -->`
is written by programs, and is not checked.
"""

import io
import re
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Python and JavaScript files, and folders of them, that are checked for words.
WORD_PATHS = (
    "keras_seqattn",
    "seqattn_command",
    "tensorboard_plugin_seqattn",
    "zoo",
    "examples",
    "benchmarks",
    "tools",
)
LONGEST, README_LONGEST, README_WORDS = 88, 120, 900
# Hidden folders are skipped as well.
SKIPPED = ("saved_models", "runs", "logs", "build", "dist")


def problems(root, word_paths=WORD_PATHS):
    """Yield a message for each line or file that breaks a rule."""
    rules = word_rules()
    for path in markdown_files(root):
        name, text = path.relative_to(root), path.read_text("utf-8")
        if name == Path("README.md"):
            yield from readme_problems(text)
        lines = prose_lines(text)
        yield from long_lines(name, lines)
        yield from forbidden_words(name, lines, rules)
    for path in code_files(root, word_paths):
        lines = READERS[path.suffix](path.read_text("utf-8"))
        yield from forbidden_words(path.relative_to(root), lines, rules)


def markdown_files(root):
    """Return all Markdown files below a folder that are checked, sorted."""
    names = ((path, path.relative_to(root).parts) for path in root.rglob("*.md"))
    return sorted(
        path
        for path, parts in names
        if parts[0] not in SKIPPED and not any(part.startswith(".") for part in parts)
    )


def code_files(root, paths):
    """Yield the Python and JavaScript files among paths and in folders."""
    for path in paths:
        place = root / path
        for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if file.suffix in READERS:
                yield file


def prose_lines(text):
    """Return `{number: line}` of Markdown without code fences and measured parts."""
    lines, in_fence, is_measured = {}, False, False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            in_fence = not in_fence
        elif line.startswith("<!-- measured:"):
            is_measured = True
        elif line.startswith("<!-- end:"):
            is_measured = False
        elif not in_fence and not is_measured:
            lines[number] = line
    return lines


def python_lines(text):
    """Return `{number: text}` of the strings and comments of Python code."""
    lines = {}
    kinds = {tokenize.STRING, tokenize.COMMENT}
    kinds.add(getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))  # Python 3.12
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in kinds:
            for number, line in enumerate(token.string.splitlines(), token.start[0]):
                lines[number] = f"{lines.get(number, '')} {line}"
    return lines


def all_lines(text):
    """Return `{number: line}` of a text."""
    return dict(enumerate(text.splitlines(), start=1))


READERS = {".py": python_lines, ".js": all_lines}


def readme_problems(text):
    """Yield what is too long in README.md."""
    if (words := len(text.split())) > README_WORDS:
        yield (
            f"README.md has {words} words. Expected at most {README_WORDS}. Move a "
            "part to docs/."
        )
    for number, line in all_lines(text).items():
        if len(line) > README_LONGEST:
            yield (
                f"README.md:{number} has {len(line)} characters. Expected at most "
                f"{README_LONGEST}. Break the line."
            )


def long_lines(name, lines):
    """Yield the lines of prose that are too long."""
    for number, line in lines.items():
        length = len(re.sub(r"\]\([^)]*\)", "]", line))
        if length > LONGEST and not line.lstrip().startswith("|"):
            yield (
                f"{name}:{number} has {length} characters. Expected at most {LONGEST} "
                "in prose. Break the line."
            )


def forbidden_words(name, lines, rules):
    """Yield the words of tools/words.txt that lines contain; `code` is left out."""
    for number, line in lines.items():
        text = re.sub(r"`[^`]*`", "", line) if name.suffix == ".md" else line
        for pattern, better in rules:
            if match := pattern.search(text):
                yield (
                    f"{name}:{number} says {match.group()!r}. Expected plain English. "
                    f"Write instead: {better}."
                )


def word_rules():
    """Return pairs of a pattern and the better words."""
    lines = Path(__file__).with_name("words.txt").read_text("utf-8").splitlines()
    rules = (line.split(": ", 1) for line in lines if not line.startswith("#"))
    return [
        (re.compile(rf"\b({words})\b", re.IGNORECASE), better)
        for words, better in rules
    ]


def main(root=ROOT):
    """Print all problems; the exit code is 1 if there are any."""
    messages = list(problems(root))
    print("\n".join(messages), end="\n" if messages else "")
    return int(bool(messages))


if __name__ == "__main__":
    sys.exit(main())
