"""What is shipped, and what importing it costs: checked from outside the process."""

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import keras_seqattn
from keras_seqattn.shipped_models import shipped_folders

ROOT = Path(__file__).parent.parent


def run_python(code):
    """Runs `code` in a new interpreter and returns what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.system
def test_imports_without_tensorflow_text():
    # None in sys.modules makes `import tensorflow_text` raise ImportError, as on
    # Windows and Intel Macs, where there are no wheels.
    run_python(
        "import sys; sys.modules['tensorflow_text'] = None\n"
        "import keras_seqattn\n"
        "for name in keras_seqattn.__all__: getattr(keras_seqattn, name)"
    )


def test_plugin_loads_neither_keras_nor_tensorflow():
    printed = run_python(
        "import sys, tensorboard_plugin_seqattn.plugin\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules}))"
    )
    heavy = {"keras", "keras_seqattn", "tensorflow", "zoo"}
    assert heavy & set(printed.split()) == set()


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
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    [path] = target.glob("*.whl")
    return path


def test_wheel_holds_the_packages_and_nothing_else(wheel):
    files = set(zipfile.ZipFile(wheel).namelist())
    info = f"keras_seqattn-{keras_seqattn.__version__}.dist-info"
    assert {file.split("/")[0] for file in files} == {
        "keras_seqattn",
        "seqattn_command",
        "tensorboard_plugin_seqattn",
        info,
    }
    assert {"keras_seqattn/api.txt", f"{info}/licenses/LICENSE"} <= files
    places = {"zoo": "keras_seqattn/zoo"}
    packages = ("keras_seqattn", "seqattn_command", "tensorboard_plugin_seqattn", "zoo")
    for package in packages:
        sources = {
            f"{places.get(package, package)}/{file.relative_to(ROOT / package)}"
            for file in (ROOT / package).rglob("*.py")
        }
        assert sources - files <= {"keras_seqattn/zoo.py"}
    assert "keras_seqattn/zoo.py" not in files  # the folder takes its place
    assert not [file for file in files if file.endswith(".pyc")]
    models = {
        f"keras_seqattn/{file.relative_to(ROOT)}"
        for folder in shipped_folders().values()
        for file in folder.rglob("*")
        if file.is_file()
    }
    assert {file for file in files if "/saved_models/" in file} == models
    folder = ROOT / "tensorboard_plugin_seqattn" / "static"
    static = {str(file.relative_to(ROOT)) for file in folder.iterdir()}
    assert f"{folder.relative_to(ROOT)}/index.js" in static
    assert sorted(static - files) == []


@pytest.mark.system
def test_shipped_models_work_from_the_wheel(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = (
        "import keras_seqattn as ks\n"
        "from keras_seqattn import zoo\n"
        "from keras_seqattn.zoo import luong2015\n"
        "assert zoo.luong2015 is luong2015\n"
        "assert zoo.__file__.endswith('keras_seqattn/zoo/__init__.py')\n"
        "print(ks.__file__, ks.Translator.load('dates')('third of May 2027').text)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    where = tmp_path / "keras_seqattn/__init__.py"
    assert done.stdout == f"{where} 2027-05-03\n", done.stderr


def test_wheel_tells_tensorboard_of_the_plugin(wheel):
    info = f"keras_seqattn-{keras_seqattn.__version__}.dist-info"
    points = zipfile.ZipFile(wheel).read(f"{info}/entry_points.txt").decode()
    loader = "tensorboard_plugin_seqattn.plugin:SeqAttentionLoader"
    assert f"[tensorboard_plugins]\nseq_attention = {loader}\n" in points


def test_version_has_one_source(wheel):
    info = f"keras_seqattn-{keras_seqattn.__version__}.dist-info"
    metadata = zipfile.ZipFile(wheel).read(f"{info}/METADATA").decode()
    assert f"\nVersion: {keras_seqattn.__version__}\n" in metadata
