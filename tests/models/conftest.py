import pytest

from tests.models.seq2seq_cases import CELLS, MODELS


@pytest.fixture(params=MODELS, scope="module")
def model(request):
    """A model of every kind, for tests that do not change it."""
    return CELLS[request.param]()
