"""GNMT, Nematus, RNMT+: what their options do, and what depth needs."""

import keras
import numpy as np
import pytest

from keras_seqattn import zoo
from keras_seqattn.optimizers import HalvingDecay
from tests.zoo.tasks import train

SEED = 1409


def test_gnmt_options_reach_the_layers_and_it_ends_with_sgd():
    model = zoo.gnmt2016("small", layers=4, residual_from=None, dropout=0.2)
    encoder, cell = model.encoder, model.decoder.cell
    assert (encoder.layer_count, cell.layer_count) == (4, 4)
    assert (encoder.residual_from, cell.residual_from) == (None, None)
    assert (encoder.dropout, cell.dropout) == (0.2, 0.2)
    assert cell.query == "previous"
    assert model.bridge is None  # zeros
    optimizer = zoo.gnmt2016_optimizer("sgd")
    schedule = keras.optimizers.schedules.serialize(HalvingDecay.gnmt2016())
    assert optimizer.get_config()["learning_rate"] == schedule
    assert isinstance(optimizer, keras.optimizers.SGD)
    assert optimizer.global_clipnorm == 5.0


def test_nematus_ties_and_drops_and_starts_gaussian_but_for_the_recurrence():
    model = zoo.sennrich2017("small", dropout=0.2, word_dropout=0.1)
    assert model.head.embedding is model.target_embedding
    for part in (model.encoder, model.decoder.cell):
        assert part.dropout == 0.2
        assert part.get_config()["recurrent_dropout"] == 0.2
        assert part.use_variational_dropout
    assert model.head.dropout == 0.2
    assert (model.source_words.rate, model.target_words.rate) == (0.1, 0.1)
    model = zoo.sennrich2017("small", deviation=0.01)
    for weight in model.trainable_weights:
        if "recurrent_kernel" in weight.path:
            rows = weight @ keras.ops.transpose(weight)
            np.testing.assert_allclose(rows, np.eye(len(rows)), atol=1e-5)
        elif len(weight.shape) > 1:
            assert np.std(weight) == pytest.approx(0.01, rel=0.1), weight.path


def test_rnmt_reads_the_context_last():
    model = zoo.chen2018("small", dropout=0.3)
    cell = model.decoder.cell
    assert (cell.readout, cell.query) == ("state_context", "current")
    assert cell.attention.alignment_dropout.rate == 0.3
    assert model.encoder.residual_from == cell.residual_from == 2


def curve(residual_from, steps, every):
    """Losses of 8 + 8 narrow layers, each the mean of `every` steps."""
    keras.utils.set_random_seed(SEED)
    model = zoo.gnmt2016("small", layers=8, residual_from=residual_from)
    how = {"longest": 8, "steps": steps, "learning_rate": 5e-3, "batch": 64}
    losses = train(model, np.random.default_rng(SEED), "reverse", **how)
    return losses.reshape(-1, every).mean(axis=1)


@pytest.mark.system
@pytest.mark.slow
def test_sixteen_layers_need_residuals():
    """Same data, first weights, learning rate: with residuals the loss goes to zero.

    The plain stack finds out when a sequence ends and how often each symbol occurs
    (2.04), and little more. Learning rate and steps were chosen with the seeds 0 and 1,
    for both stacks; at 3e-3 the residual one is slower and the plain one no better.
    """
    residual, plain = (curve(start, steps=500, every=50) for start in (3, None))
    print(f"residual {residual.round(3)}, plain {plain.round(3)}")
    assert np.all(residual[1:] < 1.05 * residual[:-1] + 0.01)  # falls, up to noise
    assert residual[-1] < 0.5
    assert residual[-1] < 0.25 * plain[-1]
