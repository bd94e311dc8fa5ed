"""What is shipped, and what importing it costs: checked from outside the process."""

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import keras_seqattn
from keras_seqattn.shipped_models import shipped_folders
from tests.raised import check_message

ROOT = Path(__file__).parent.parent


def run_python(code, folder=ROOT):
    how = {"cwd": folder, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, "-c", code], **how)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.system
def test_what_the_import_loads():
    """Without tensorflow_text, too, which has no wheels for Windows and Intel Macs."""
    printed = run_python(
        "import sys; sys.modules['tensorflow_text'] = None\n"
        "import keras_seqattn; print(*sys.modules)\n"
        "for name in keras_seqattn.__all__: getattr(keras_seqattn, name)"
    )
    late = {"export", "serving", "testing", "zoo", "cli"}
    late = {"keras_hub", *(f"keras_seqattn.{name}" for name in late)}
    assert not late & {*printed.split()}
    assert "keras_seqattn.layers" in printed.split()


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.environ['KERAS_BACKEND'] = 'jax'\n",
        "import sys, types; sys.modules['keras'] = types.SimpleNamespace(\n"
        "backend=types.SimpleNamespace(backend=lambda: 'jax'))\n",
    ],
    ids=["environment", "imported before"],
)
def test_another_backend_is_an_error_at_import(code):
    raised = "try: import keras_seqattn\nexcept ImportError as error: print(error)"
    check_message(
        run_python(code + raised).strip(),
        "keras_seqattn got another backend of Keras",
        "received 'jax'. Set the environment variable KERAS_BACKEND=tensorflow before",
    )


def test_plugin_loads_neither_keras_nor_tensorflow():
    printed = run_python(
        "import sys, tensorboard_plugin_seqattn.plugin\n"
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    assert not {"keras", "keras_seqattn", "tensorflow", "zoo"} & {*printed.split()}


@pytest.mark.parametrize(
    ("package", "others"),
    [("tensorboard_plugin_seqattn", {"tensorboard"}), ("seqattn_command", set())],
)
def test_package_imports_little_beside_the_standard_library(package, others):
    # By reading, not by running: an import inside a function counts too.
    allowed = sys.stdlib_module_names | {package, *others}
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    for file in files:
        foreign = set(imported(file)) - allowed
        assert not foreign, f"{file.relative_to(ROOT)} imports {sorted(foreign)}"


def imported(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, *"-m hatchling build -t wheel -d".split(), str(target)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [path] = target.glob("*.whl")
    return zipfile.ZipFile(path)


INFO = f"keras_seqattn-{keras_seqattn.__version__}.dist-info"
PLACES = {"keras_seqattn", "seqattn_command", "tensorboard_plugin_seqattn"}
PLACES = {"zoo": "keras_seqattn/zoo", **{name: name for name in PLACES}}


def test_wheel_holds_the_packages_only_and_tells_of_the_plugin(wheel):
    files = set(wheel.namelist())
    assert {file.split("/")[0] for file in files} == {*PLACES, INFO} - {"zoo"}
    assert {"keras_seqattn/api.txt", f"{INFO}/licenses/LICENSE"} <= files
    for package, place in PLACES.items():
        paths = (ROOT / package).rglob("*.py")
        sources = {f"{place}/{path.relative_to(ROOT / package)}" for path in paths}
        assert sources - files <= {"keras_seqattn/zoo.py"}
    assert "keras_seqattn/zoo.py" not in files  # the folder takes its place
    assert not [file for file in files if file.endswith(".pyc")]
    shipped = [x for folder in shipped_folders().values() for x in folder.rglob("*")]
    models = {f"keras_seqattn/{x.relative_to(ROOT)}" for x in shipped if x.is_file()}
    assert {file for file in files if "/saved_models/" in file} == models
    static = (ROOT / "tensorboard_plugin_seqattn/static").iterdir()
    assert {str(file.relative_to(ROOT)) for file in static} <= files
    assert "tensorboard_plugin_seqattn/static/index.js" in files
    points = wheel.read(f"{INFO}/entry_points.txt").decode()
    loader = "tensorboard_plugin_seqattn.plugin:SeqAttentionLoader"
    assert f"[tensorboard_plugins]\nseq_attention = {loader}\n" in points
    metadata = wheel.read(f"{INFO}/METADATA").decode()
    assert f"\nVersion: {keras_seqattn.__version__}\n" in metadata


@pytest.mark.system
def test_shipped_models_work_from_the_wheel(wheel, tmp_path):
    wheel.extractall(tmp_path)
    code = (
        "import keras_seqattn as ks\n"
        "from keras_seqattn import zoo\n"
        "from keras_seqattn.zoo import luong2015\n"
        "assert zoo.luong2015 is luong2015\n"
        "assert zoo.__file__.endswith('keras_seqattn/zoo/__init__.py')\n"
        "print(ks.__file__, ks.Translator.load('dates')('third of May 2027').text)"
    )
    path = tmp_path / "keras_seqattn/__init__.py"
    assert run_python(code, tmp_path) == f"{path} 2027-05-03\n"
