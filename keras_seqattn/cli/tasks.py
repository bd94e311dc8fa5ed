"""Built-in tasks: what they are, examples, options."""

import inspect

from keras_seqattn.checks import check_choice
from keras_seqattn.errors import four_part_error

HELP = "list the built-in tasks, with examples"
EXAMPLES = """\
examples:
  seqattn tasks                  all of them
  seqattn tasks dates            one: its options, more examples
  seqattn tasks numbers --task-option source=fr target=digits
"""


def configure(parser):
    """Adds its options."""
    from keras_seqattn.cli.train_options import NamedValues

    parser.add_argument("name", nargs="?", metavar="NAME", help="of one task")
    parser.add_argument(
        "--task-option",
        nargs="+",
        action=NamedValues,
        default={},
        metavar="NAME=VALUE",
        help="its options, e.g. train=5000",
    )
    parser.add_argument(
        "--examples", type=int, metavar="N", help="how many (default: 2, of one 10)"
    )


def run(parsed):
    """Shows them."""
    from keras_seqattn.data.tasks import TASKS

    _check(parsed)
    if parsed.name is not None:
        check_choice("tasks", "task", parsed.name, TASKS)
        _show_one(TASKS[parsed.name], parsed)
        return
    for make in TASKS.values():
        _show(make, parsed.examples or 2)
    print("More about one: seqattn tasks NAME. To learn one: seqattn train --task NAME")


def _check(parsed):
    """No option that nothing would use, and no number that means another."""

    if parsed.task_option and parsed.name is None:
        raise four_part_error(
            "tasks got options of no task",
            "--task-option with the NAME of a task",
            f"{' '.join(f'{k}={v}' for k, v in parsed.task_option.items())} alone",
            "Name it first, e.g. seqattn tasks dates --task-option train=5000",
        )
    if parsed.examples is not None and parsed.examples < 1:
        raise four_part_error(
            "tasks got an unusable --examples",
            "1 or more",
            str(parsed.examples),
            "Leave it out for a few",
        )


def _show(make, count):
    """Name, first line of its docstring, a few pairs."""
    print(f"{make.__name__:8}  {_first_line(make)}")
    try:
        task = make(**_few(make, count))
    except ImportError as error:
        print(f"          {error}")
    else:
        _print_pairs(task.test, count)
    print()


def _show_one(make, parsed):
    from keras_seqattn.cli.values import arguments, call

    name = make.__name__
    task = call(name, make, arguments(name, make, parsed.task_option))
    print(f"{task.name}: {task.description}\n")
    print(inspect.getdoc(make).partition("Returns:")[0].rstrip())
    print("\nDefaults:")
    for name, parameter in inspect.signature(make).parameters.items():
        print(f"    {name}={parameter.default!r}")
    splits = {name: getattr(task, name) for name in ("train", "validation", "test")}
    sizes = ", ".join(f"{len(pairs)} for {name}" for name, pairs in splits.items())
    print(f"\nPairs: {sizes}; {task.source_text} to {task.target_text}\n")
    _print_pairs(task.test, parsed.examples or 10)


def _few(make, count):
    """Options for as few pairs as are needed, where the task has them."""
    few = {"train": 100, "validation": 1, "test": count}
    return {name: n for name, n in few.items() if name in _parameters(make)}


def _parameters(make):
    return inspect.signature(make).parameters


def _first_line(make):
    return inspect.getdoc(make).splitlines()[0]


def _print_pairs(pairs, count):
    sources = [source for source, _ in pairs[:count]]
    width = max(map(len, sources), default=0)
    for source, target in pairs[:count]:
        print(f"          {source:{width}}  ->  {target}")
