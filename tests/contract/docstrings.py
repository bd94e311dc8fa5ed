"""Reads docstrings: their sections, the shapes and the equation tags in them."""

import inspect
import re

from keras import tree

# The first author of a paper, and a number or a section of it: "Luong (3.1: dot)".
TAG = r"([A-Z]\w+) \(([A-Z0-9.]+(?:: [^()]+)?)\)"


def sections(owner):
    """The sections of a docstring, `{"Args": [lines], ...}`."""
    found, name = {}, None
    for line in inspect.getdoc(owner).splitlines():
        head = re.fullmatch(r"([A-Z][A-Za-z ,]*?)(?: \(.*\))?:", line)
        if head:
            name = head[1]
            found[name] = []
        elif name:
            found[name].append(line)
    return found


def shapes(owner):
    """`{name: ["batch", "source", "2 * units"]}` of the *Shapes* section."""
    found = {}
    for line in sections(owner).get("Shapes", []):
        match = re.match(r" {4}(\w+):.*?\[([^]]+)\]", line)
        if match:
            found[match[1]] = [size.strip() for size in match[2].split(",")]
    return found


def promised_tags(owner):
    """The tags of the *Equations* section: `["Bahdanau (A.1.2)", ...]`."""
    lines = sections(owner).get("Equations", [])
    found = (re.search(rf"  {TAG}(?:;|$)", line) for line in lines)
    return [match[0].strip(" ;") for match in found if match]


def code_tags(source):
    """The tags in the comments of some code, one for each line that has it."""
    comments = re.findall(rf"# {TAG}$", source, re.MULTILINE)
    return [f"{author} ({number})" for author, number in comments]


def wrong_tags(promised, source):
    """Why the tags of a docstring and those of the code do not agree."""
    found = code_tags(source)
    return [
        f"{tag} is on {found.count(tag)} lines of the code, not on one"
        for tag in promised
        if found.count(tag) != 1
    ]


def authors(owner):
    """The first authors of the *References* section."""
    lines = sections(owner).get("References", [])
    return {re.match(r" *(\w*)", line)[1] for line in lines}


def described(owner):
    """The names that the *Args* section describes."""
    lines = sections(owner).get("Args", [])
    matches = [re.match(r" {4}\*{0,2}(\w+):", line) for line in lines]
    return [match[1] for match in matches if match]


class Sizes:
    """Dimension words and what they stand for in one call."""

    def __init__(self, layer):
        self.layer, self.known = layer, {}

    def bind(self, words, shape):
        """An argument says what its words stand for."""
        assert len(words) == len(shape), (words, shape)
        for word, size in zip(words, shape, strict=True):
            assert self.known.setdefault(word, size) == size, (word, size, self.known)

    def expect(self, words, shape):
        """A result must have the sizes that the words say."""
        for word, size in zip(words, shape, strict=True):
            if word.isidentifier() and self.lookup(word) is None:
                self.known[word] = size  # named here for the first time
        expected = tuple(eval(word, {}, self) for word in words)  # "2 * units"
        assert expected == tuple(shape), f"{words} says {expected}, received {shape}"

    def __getitem__(self, word):
        return self.lookup(word)

    def lookup(self, word):
        """From the arguments, else an attribute of the layer or its cell, else None."""
        if word in self.known:
            return self.known[word]
        for owner in (self.layer, getattr(self.layer, "cell", None)):
            for name in (word, f"{word}_size", f"state_{word}"):
                found = tree.flatten(getattr(owner, name, None))
                if found and isinstance(found[0], int):
                    return found[0]
        return None
