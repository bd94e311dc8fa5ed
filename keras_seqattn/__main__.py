"""`python -m keras_seqattn` is the command `seqattn`."""

import sys

from seqattn_command import main

if __name__ == "__main__":
    sys.exit(main())
