"""Search for target tokens: one loop, several searches, any `StepModel`."""

from keras_seqattn.decoding.beam import BeamSearch, coverage_penalty, length_penalty
from keras_seqattn.decoding.ensemble import Ensemble
from keras_seqattn.decoding.greedy import Greedy
from keras_seqattn.decoding.hypotheses import Choice
from keras_seqattn.decoding.loop import decode
from keras_seqattn.decoding.relative_length import RelativeLength
from keras_seqattn.decoding.sampling import Sample
from keras_seqattn.decoding.scoring import score
from keras_seqattn.decoding.search import Search
from keras_seqattn.decoding.shortlist import Shortlist
from keras_seqattn.decoding.step_model import StepModel
from keras_seqattn.decoding.unknown_words import replace_unknown

__all__ = [
    "BeamSearch",
    "Choice",
    "Ensemble",
    "Greedy",
    "RelativeLength",
    "Sample",
    "Search",
    "Shortlist",
    "StepModel",
    "coverage_penalty",
    "decode",
    "length_penalty",
    "replace_unknown",
    "score",
]
