"""The public surface as text: every public name with its signature, one per line.

`python -m keras_seqattn.testing.api --check` compares it with `api.txt`, `--write`
rewrites the file (`make check` and `make api` do this).
"""

import argparse
import difflib
import importlib
import inspect
import pkgutil
import sys
from pathlib import Path

import keras

ROOT = "keras_seqattn"
# `ops` has no `__all__`: every function of its modules is public, except in `fast`,
# which only ops.dispatch uses.
OPS, FAST = f"{ROOT}.ops", f"{ROOT}.ops.fast"
ZOO = f"{ROOT}.zoo"  # documented in zoo/README.md


def api_file():
    """Return the path of the `api.txt` in the package."""
    return Path(importlib.import_module(ROOT).__file__).with_name("api.txt")


def surface():
    """Return the current public surface, a sorted list of lines."""
    public = {**listed(ROOT), **of_ops()}
    described = [describe(path, public[path], public.values()) for path in public]
    return sorted({line for lines in described for line in lines})


def listed(namespace):
    """Return `{path: value}` of a namespace's `__all__`, with inner namespaces."""
    module, names = importlib.import_module(namespace), {}
    for name in module.__all__:
        path, value = f"{namespace}.{name}", getattr(module, name)
        names[path] = value
        if inspect.ismodule(value) and path != ZOO:
            names |= listed(path)
    return names


def difference():
    """Return the diff from `api.txt` to the surface, empty if they are equal."""
    path = api_file()
    recorded = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    diff = difflib.unified_diff(
        recorded, surface(), "api.txt", "the code", lineterm="", n=0
    )
    return "\n".join(diff)


def of_ops():
    """Return `{path: value}` of the functions and classes in the modules of `ops`."""
    package, names = importlib.import_module(OPS), {}
    for info in pkgutil.walk_packages(package.__path__, f"{OPS}."):
        if not info.name.startswith(FAST):
            module = importlib.import_module(info.name)
            names |= {f"{info.name}.{name}": x for name, x in own_names(module)}
    return names


def own_names(module):
    """Yield (name, value) of the public functions and classes defined in `module`."""
    for name, value in sorted(vars(module).items()):
        is_code = inspect.isroutine(value) or inspect.isclass(value)
        is_own = getattr(value, "__module__", None) == module.__name__
        if is_code and is_own and not name.startswith("_"):
            yield name, value


def describe(path, value, public=()):
    """Yield the lines for one public name; a class also has lines for its members.

    A member that is inherited from another class in `public` is listed only there.
    """
    if not callable(value):
        yield path
        return
    yield path + signature(value)
    if inspect.isclass(value):
        bases = [cls for cls in public if inspect.isclass(cls) and cls is not value]
        for name, home, member in members(value):
            if home not in bases:
                yield f"{path}.{name}" + (signature(member) if callable(member) else "")


def members(cls):
    """Yield (name, home, member) of the public members that Keras does not define.

    For classes of Keras, methods that every layer or model has (`build`, `get_config`,
    ...) are left out. `call` stays, because users pass its arguments.
    """
    is_keras = any(base.__module__.startswith("keras.") for base in cls.__mro__)
    for name, kind, home, member in inspect.classify_class_attrs(cls):
        is_ours = home.__module__.split(".")[0] == cls.__module__.split(".")[0]
        is_protocol = is_keras and name != "call" and hasattr(keras.Model, name)
        if name.startswith("_") or not is_ours or is_protocol:
            continue
        if kind != "data":
            yield name, home, member if kind == "property" else getattr(cls, name)


def signature(value):
    """Return `(a, b=1)`: names, kinds and defaults, without annotations."""
    # Keras classes also have __new__; Python versions differ in which one they inspect.
    by_init = inspect.isclass(value) and value.__init__ is not object.__init__
    try:
        described = inspect.signature(value.__init__ if by_init else value)
    except (TypeError, ValueError):  # builtins without a signature
        return "(...)"
    parameters = list(described.parameters.values())[1 if by_init else 0 :]
    parameters = [
        parameter.replace(
            annotation=parameter.empty,
            default=_StableDefault.of(parameter.default, parameter.empty),
        )
        for parameter in parameters
    ]
    empty = inspect.Signature.empty
    return str(described.replace(parameters=parameters, return_annotation=empty))


class _StableDefault:
    """A default value whose text has no memory address, so it is always the same."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text

    @classmethod
    def of(cls, value, empty):
        if value is empty:
            return empty
        if hasattr(value, "__qualname__"):
            return cls(value.__qualname__)
        text = repr(value)
        return cls(f"<{type(value).__name__}>" if " at 0x" in text else text)


def main(arguments=None):
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true", help="compare with api.txt")
    action.add_argument("--write", action="store_true", help="rewrite api.txt")
    if parser.parse_args(arguments).write:
        api_file().write_text("\n".join(surface()) + "\n", encoding="utf-8")
        return 0
    diff = difference()
    if not diff:
        print("The public surface is as recorded in keras_seqattn/api.txt.")
        return 0
    print(diff)
    print(
        "The public surface differs from keras_seqattn/api.txt. If that is intended, "
        "run `make api` and add an entry to CHANGELOG.md that says whether saved "
        "models still load."
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
