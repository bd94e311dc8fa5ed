"""Every test starts the same: seeded, float32, in a quiet TensorFlow.

Keras is imported by the fixtures, not on top: the process that only hands out tests
to the workers never needs it.
"""

import collections
import gc
import hashlib
import os

import hypothesis
import pytest

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
SEED = 1409
LEFT_OUT = [  # unless an option asks for them
    ("slow", "--all", "make test-all"),
    ("trial", "--trials", "make trials"),
    ("proof", "--proofs", "make proofs"),
]

# A first call traces a graph: no deadline. Derandomized: a red run is red again.
hypothesis.settings.register_profile(
    "default-run", deadline=None, derandomize=True, database=None, max_examples=20
)
hypothesis.settings.register_profile(
    "all", parent=hypothesis.settings.get_profile("default-run"), max_examples=200
)


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="slow tests, the full product")
    parser.addoption("--trials", action="store_true", help="trials, of minutes each")
    parser.addoption("--proofs", action="store_true", help="proofs, 15 minutes in all")


def pytest_configure(config):
    gc.set_threshold(50_000, 20, 20)  # rarely: graphs are many objects
    run_all = config.getoption("--all")
    hypothesis.settings.load_profile("all" if run_all else "default-run")


@pytest.hookimpl(trylast=True)  # after -k and -m have chosen
def pytest_collection_modifyitems(config, items):
    for marker, option, target in LEFT_OUT:
        if not config.getoption(option):
            skip = pytest.mark.skip(reason=f"{marker}: runs with {option} ({target})")
            for item in items:
                if item.get_closest_marker(marker):
                    item.add_marker(skip)
    if not config.getoption("--all"):
        drop_most_of_product(config, items)
    # Long tests first, so that no worker is left alone with one at the end.
    items.sort(key=lambda item: item.get_closest_marker("system") is None)


def pytest_terminal_summary(terminalreporter, config):
    """With --durations N also the N files that take longest, fixtures included."""
    seconds = collections.Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if hasattr(report, "duration"):
                seconds[report.nodeid.split("::")[0]] += report.duration
    for file, spent in seconds.most_common(config.getoption("durations") or 0):
        terminalreporter.write_line(f"{spent:7.1f}s of {seconds.total():.0f}s  {file}")


def drop_most_of_product(config, items):
    """Keeps a slice of each test marked `product`; the rest is deselected.

    @pytest.mark.product
    @pytest.mark.parametrize("row", ROWS)
    @pytest.mark.parametrize("dtype", DTYPES)

    runs every row and every dtype at least once, not every pair.
    """
    tests = {}
    for item in items:
        if item.get_closest_marker("product") and hasattr(item, "callspec"):
            tests.setdefault(item.nodeid.split("[")[0], []).append(item)
    kept = {item for cases in tests.values() for item in each_value_once(cases)}
    dropped = {item for cases in tests.values() for item in cases} - kept
    if dropped:
        config.hook.pytest_deselected(items=[i for i in items if i in dropped])
        items[:] = [item for item in items if item not in dropped]


def each_value_once(cases):
    """Greedy: the case with most unseen values next, ties in a fixed mixed order."""
    values = {
        case: {(name, id(value)) for name, value in case.callspec.params.items()}
        for case in cases
    }
    mixed = sorted(cases, key=lambda x: hashlib.sha256(x.nodeid.encode()).digest())
    unseen = set().union(*values.values())
    chosen = []
    while unseen:
        best = max(mixed, key=lambda case: len(values[case] & unseen))
        unseen -= values[best]
        chosen.append(best)
    return chosen


@pytest.fixture(autouse=True)
def same_start():
    """Seeds Python, NumPy and Keras; puts global Keras settings back afterwards."""
    import keras

    keras.utils.set_random_seed(SEED)
    policy, floatx = keras.config.dtype_policy(), keras.config.floatx()
    yield
    keras.config.set_floatx(floatx)
    keras.config.set_dtype_policy(policy)


@pytest.fixture(autouse=True, scope="session")
def clear_kernels():
    """Return the function with which TensorFlow forgets its compiled kernels.

    A new seed would call it before every test, and the test would compile them again.
    """
    from tensorflow.python.eager import context

    clear = context.pywrap_tfe.TFE_ContextClearCaches
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context.pywrap_tfe, "TFE_ContextClearCaches", lambda *_: None)
        yield clear


@pytest.fixture(autouse=True, scope="module")
def fresh_session(clear_kernels):
    """Layer names count from zero in every file, whichever files ran before.

    TensorFlow never lets go of a graph with a custom gradient: a worker ends with
    millions of objects. Frozen, they cost a collection nothing, and Keras collects
    after every layer that it quantises.
    """
    import keras
    from tensorflow.python.eager import context

    keras.utils.clear_session()  # collects what can go
    if context.context()._context_handle is not None:  # else there are none
        clear_kernels(context.context()._context_handle)
    gc.freeze()
