"""Reads docstrings: their sections, the shapes and the equation tags in them."""

import inspect
import re

from keras import tree


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


def tags(owner):
    """The equation numbers at the end of the lines of the *Equations* section."""
    found = []
    for line in sections(owner).get("Equations", []):
        match = re.search(r"  \(([^()]*\d[^()]*)\)$", line)
        if match and not match[1].startswith("section"):
            found.append(match[1].split()[-1].rstrip(":"))
    return found


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
