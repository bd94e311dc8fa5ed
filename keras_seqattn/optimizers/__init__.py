"""Optimizers and learning-rate schedules."""

from keras_seqattn.optimizers.fused_adam import FusedAdam
from keras_seqattn.optimizers.schedules import (
    HalvingDecay,
    InverseRootSchedule,
    RNMTPlusSchedule,
)

__all__ = [
    "FusedAdam",
    "HalvingDecay",
    "InverseRootSchedule",
    "RNMTPlusSchedule",
]
