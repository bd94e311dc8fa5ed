"""The parser of a verb: options in any order, and errors that say what to write."""

import argparse
import difflib
import re
import shlex

from seqattn_command.options import is_translator


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
                self.error(
                    f"unrecognized arguments: {words}{self._hint(found, unknown)}"
                )
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

    def _hint(self, found, unknown):
        """Return what the user may have meant."""
        known = [option for a in self._actions for option in a.option_strings]
        if unknown[0].startswith("-"):
            name = unknown[0].split("=")[0]
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.7)
            return f". Did you mean {near[0]}?" if near else ""
        run = next(filter(is_translator, unknown), None)
        if run and "run" in found and not is_translator(found.run):
            return self._run_first(run, found, unknown)
        is_table = "pairs" in found  # a second file is the other side, not a table
        words = self._named([found.pairs, *unknown] if is_table else unknown, found)
        write = "Instead of --pairs write" if is_table else "Write"
        return f". {write} {shlex.join(words)}" if words else ""

    def _run_first(self, run, found, unknown):
        """Return the command with the run in front, and an option for other words."""
        words = [word for word in (found.run, *unknown) if word != run]
        rest = [word for word in self._words if word not in (run, *words)]
        named = self._named(words, found)
        command = [*self.prog.split(), run, *rest, *named]
        return f". Write RUN first: {shlex.join(command)}" if named else ""

    def _named(self, words, found):
        """Return words with the options that they need; [] if there are none."""
        known = [option for a in self._actions for option in a.option_strings]
        if "--pairs" in known and len(words) <= 2:
            names = ("--pairs",) if len(words) == 1 else ("--source", "--target")
            return [each for pair in zip(names, words, strict=True) for each in pair]
        if "--text" in known and "--html" in known:
            page = [] if found.html else ["--html", "page.html"]
            return [*page, *(each for word in words for each in ("--text", word))]
        return []
