"""Show the built-in tasks: what they are, examples, options."""

import inspect

from keras_seqattn.checks import check_choice
from keras_seqattn.cli.typed_arguments import call_with, parse_arguments
from keras_seqattn.data.tasks import TASKS
from keras_seqattn.errors import four_part_error


def run(options):
    """Print all tasks, or one of them in detail."""
    _check(options)
    if options.name is not None:
        check_choice("tasks", "task", options.name, TASKS)
        _show_details(TASKS[options.name], options)
        return
    for function in TASKS.values():
        _show(function, options.examples or 2)
    print(
        "Details of a task: seqattn tasks NAME. Train on it: seqattn train --task NAME"
    )


def _check(options):
    """Check that no option would be ignored and that the number is positive."""
    if options.task_option and options.name is None:
        written = " ".join(f"{k}={v}" for k, v in options.task_option.items())
        raise four_part_error(
            "tasks got options without a task",
            "--task-option with the NAME of a task",
            f"{written} alone",
            "Name the task first, e.g. seqattn tasks dates --task-option train=5000",
        )
    if options.examples is not None and options.examples < 1:
        raise four_part_error(
            "tasks got an unusable --examples",
            "1 or more",
            str(options.examples),
            "Leave it out to see a few examples",
        )


def _show(function, count):
    """Print the name, the first line of the docstring, and a few pairs."""
    print(f"{function.__name__:8}  {inspect.getdoc(function).splitlines()[0]}")
    try:
        task = function(**_small_sizes(function, count))
    except ImportError as error:
        print(f"          {error}")
    else:
        _print_pairs(task.test, count)
    print()


def _show_details(function, options):
    name = function.__name__
    values = parse_arguments(name, function, options.task_option)
    task = call_with(name, function, values)
    print(f"{task.name}: {task.description}\n")
    print(inspect.getdoc(function).partition("Returns:")[0].rstrip())
    print("\nDefaults:")
    for name, parameter in inspect.signature(function).parameters.items():
        print(f"    {name}={parameter.default!r}")
    splits = {name: getattr(task, name) for name in ("train", "validation", "test")}
    sizes = ", ".join(f"{len(pairs)} for {name}" for name, pairs in splits.items())
    print(f"\nPairs: {sizes}; {task.source_text} to {task.target_text}\n")
    _print_pairs(task.test, options.examples or 10)


def _small_sizes(function, count):
    """Return options for as few pairs as are needed, if the task has them."""
    sizes = {"train": 100, "validation": 1, "test": count}
    parameters = inspect.signature(function).parameters
    return {name: size for name, size in sizes.items() if name in parameters}


def _print_pairs(pairs, count):
    sources = [source for source, _ in pairs[:count]]
    width = max(map(len, sources), default=0)
    for source, target in pairs[:count]:
        print(f"          {source:{width}}  ->  {target}")
