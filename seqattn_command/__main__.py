"""`python -m seqattn_command` is the command `seqattn`."""

import sys

from seqattn_command.command import main

if __name__ == "__main__":
    sys.exit(main())
