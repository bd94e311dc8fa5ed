"""Saving files without ending the training when that fails."""

import os
import warnings

from keras_seqattn.errors import four_parts


class SaveAttempts:
    """Tries to save files; warns if that fails, and remembers the reasons.

    Args:
        owner: who saves, for the warnings.
        catches_value_errors: whether a ValueError is a failure, too. It says that the
            path holds files of something else. False: it is raised.
    """

    def __init__(self, owner, catches_value_errors=False):
        self.owner, self.catches_value_errors = owner, catches_value_errors
        self.unsaved = {}  # the last failure of each name: why it failed

    def save(self, name, write, path):
        """Call `write(path)`, and return whether the file is saved.

        Args:
            name: what is saved, for example "state".
            write: a function that takes the path.
            path: of a file or folder.
        """
        self.unsaved.pop(name, None)
        try:
            write(path)
            return True
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            remedy = "Make room"
        except ValueError as error:
            if not self.catches_value_errors:
                raise
            reason = str(error).rstrip(".")
            remedy = "Remove the files that do not belong to the run"
        self.unsaved[name] = reason
        warnings.warn(
            four_parts(
                f"{self.owner} could not save its {name}",
                f"to write {str(path)!r}",
                reason,
                f"{remedy}: the training continues, and what was saved before is "
                "unchanged",
            ),
            RuntimeWarning,
            stacklevel=2,
        )
        return False
