"""The parser of a verb: options in any order, and errors that say what to write."""

import argparse
import difflib
import re
import shlex


class VerbParser(argparse.ArgumentParser):
    """A parser that accepts positional arguments before, between and after options."""

    _words = None  # that are being parsed

    def parse_known_args(self, args=None, namespace=None):
        if self._words is not None:  # parse_known_intermixed_args may call this method
            return super().parse_known_args(args, namespace)
        self._words = args
        try:
            found, unknown = self.parse_known_intermixed_args(args, namespace)
            if unknown:
                words = shlex.join(unknown)
                self.error(f"unrecognized arguments: {words}{self._hint(unknown)}")
        finally:
            self._words = None
        return found, unknown

    def error(self, message):
        """Print an error and exit; say which option took an argument."""
        missing = re.search("required: ([A-Z]+)", message)
        greedy = [a for a in self._actions if a.nargs == "+" and self._is_written(a)]
        if missing and greedy:
            message += (
                f". Write {missing[1]} first, because {greedy[-1].option_strings[0]} "
                "takes all words that follow it"
            )
        super().error(message)

    def _is_written(self, action):
        return bool({*action.option_strings} & {*(self._words or ())})

    def _hint(self, unknown):
        """Return what the user may have meant."""
        known = [option for a in self._actions for option in a.option_strings]
        if unknown[0].startswith("-"):
            name = unknown[0].split("=")[0]
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.7)
            return f". Did you mean {near[0]}?" if near else ""
        words = list(map(shlex.quote, unknown))
        if "--pairs" in known and len(words) <= 2:
            names = ("--pairs",) if len(words) == 1 else ("--source", "--target")
            pairs = zip(names, words, strict=True)
            return f". Write {' '.join(f'{name} {word}' for name, word in pairs)}"
        if "--text" in known and "--html" in known:
            texts = " ".join(f"--text {word}" for word in words)
            return f". Write --html page.html {texts}"
        return ""
