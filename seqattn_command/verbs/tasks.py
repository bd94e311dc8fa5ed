"""List the built-in tasks with examples, or show the options of one task."""

from seqattn_command.options import NamedValues

HELP = "list the built-in tasks, with examples"
EXAMPLES = """\
examples:
  seqattn tasks                  all tasks
  seqattn tasks dates            one task: its options, more examples
  seqattn tasks numbers --task-option source=fr target=digits
"""


def add_options(parser):
    """Add the options of `seqattn tasks`."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="show only this task")
    parser.add_argument(
        "--task-option",
        nargs="+",
        action=NamedValues,
        default={},
        metavar="NAME=VALUE",
        help="options of the task, e.g. train=5000",
    )
    parser.add_argument(
        "--examples",
        type=int,
        metavar="N",
        help="number of examples (default: 2, for one task 10)",
    )
