"""Built-in tasks, which are generated: nothing is downloaded."""

from keras_seqattn.checks import check_choice
from keras_seqattn.data.tasks.checks import check_options
from keras_seqattn.data.tasks.dates_task import dates
from keras_seqattn.data.tasks.g2p_task import g2p
from keras_seqattn.data.tasks.numbers_task import numbers
from keras_seqattn.data.tasks.reverse_task import reverse
from keras_seqattn.data.tasks.sort_task import sort
from keras_seqattn.data.tasks.task_data import Task

__all__ = ["TASKS", "Task", "dates", "g2p", "numbers", "reverse", "sort", "task"]

TASKS = {build.__name__: build for build in (dates, g2p, numbers, reverse, sort)}


def task(name, **options):
    """Returns the built-in task with this name.

    Args:
        name: "dates", "g2p", "numbers", "reverse" or "sort".
        **options: arguments of the function with this name.

    Returns:
        `Task`.

    Example:
        >>> task("sort", symbols="0123456789", seed=7).train.source[0].isdigit()
        True
    """
    check_choice("task", "task", name, TASKS)
    check_options(TASKS[name], options)
    return TASKS[name](**options)
