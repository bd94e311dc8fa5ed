"""Whole models, scheduled sampling, averages of checkpoints, frozen layers."""

from keras_seqattn.models.averaging import average_checkpoints
from keras_seqattn.models.frozen_layers import freeze
from keras_seqattn.models.sampling_probability import (
    ConstantProbability,
    ExponentialProbability,
    InverseSigmoidProbability,
    LinearProbability,
    SamplingProbability,
)
from keras_seqattn.models.scheduled_sampling import ScheduledSampling
from keras_seqattn.models.seq2seq import Seq2Seq

__all__ = [
    "ConstantProbability",
    "ExponentialProbability",
    "InverseSigmoidProbability",
    "LinearProbability",
    "SamplingProbability",
    "ScheduledSampling",
    "Seq2Seq",
    "average_checkpoints",
    "freeze",
]
