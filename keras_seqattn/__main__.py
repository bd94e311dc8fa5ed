"""`python -m keras_seqattn` is the command `seqattn`."""

import sys

from keras_seqattn.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
