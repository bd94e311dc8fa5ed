"""Memory goes back to the system, and garbage collection does not stop the server."""

import os
import subprocess
import sys
import time

from keras_seqattn.serving import memory, predictor, service
from tests.serving.process import ROOT
from tests.serving.thread import serving


def test_it_is_given_back_after_large_requests_only(odd, monkeypatch):
    calls = []
    monkeypatch.setattr(predictor, "give_back", lambda: calls.append(time.monotonic()))
    monkeypatch.setattr(service, "TIDY", 0.05)
    with serving(odd) as client:
        client.ask(instances=[1.0])
        time.sleep(0.3)
        assert not calls
        monkeypatch.setattr(
            odd.signatures["wait"], "lengths", lambda inputs: (999, 999)
        )
        client.ask(signature_name="wait", inputs=[0.0])
        end = time.monotonic() + 30
        while not calls and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(0.3)
        assert len(calls) == 1


def test_garbage_collection_is_quick():
    """Loaded objects are exempt; in a new process, because they stay so."""
    lines = (
        "import gc, keras_seqattn",
        "from keras_seqattn.serving.memory import keep_loaded_objects",
        "keep_loaded_objects()",
        "assert len(gc.get_objects()) < 10_000",  # that a collection looks at
        "assert gc.get_freeze_count() > 100_000",
    )
    command = [sys.executable, "-c", "\n".join(lines)]
    subprocess.run(command, check=True, cwd=ROOT)


def test_the_setting_of_the_user_stays(monkeypatch):
    monkeypatch.setitem(os.environ, "TF_ONEDNN_USE_SYSTEM_ALLOCATOR", "0")
    memory.use_system_allocator()
    assert os.environ["TF_ONEDNN_USE_SYSTEM_ALLOCATOR"] == "0"


def test_memory_can_be_given_back_anywhere():
    memory.give_back()
