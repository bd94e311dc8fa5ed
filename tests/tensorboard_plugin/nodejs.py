"""The modules of the viewer in Node, for functions that touch no element."""

import importlib.util
import json
import subprocess

from tests.tensorboard_plugin.browser import missing
from tests.tensorboard_plugin.stage import STATIC


def run(module, body, argument=None):
    """Runs the body of a function of `m`, the module, and `x`, the argument.

    Args:
        module: name of a file.
        body: JavaScript that returns something.
        argument: something that JSON can say.

    Returns:
        What it returned, if JSON can say it.
    """
    if importlib.util.find_spec("playwright") is None:
        missing(
            "The functions of the viewer were not tried alone. Expected Playwright, "
            "which brings Node, received none. Run: pip install playwright"
        )
    from playwright._impl._driver import compute_driver_executable

    node, _ = compute_driver_executable()
    code = (
        f"import * as m from {json.dumps((STATIC / module).as_uri())};\n"
        "import {readFileSync} from 'node:fs';\n"
        "const x = JSON.parse(readFileSync(0, 'utf8'));\n"
        f"const answer = ((m, x) => {{{body}}})(m, x);\n"
        "console.log(JSON.stringify(answer ?? null));"
    )
    done = subprocess.run(
        [node, "--input-type=module", "-e", code],
        input=json.dumps(argument),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
