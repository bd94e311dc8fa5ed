"""All that these tests use of the project.

The stored files stay as they are when modules move: then only the imports here change.
"""

# ruff: noqa: F401  the other modules import these names from here
from keras_seqattn import zoo
from keras_seqattn.data import Pairs, encode
from keras_seqattn.decoding import BeamSearch, Greedy, RelativeLength, Sample, Shortlist
from keras_seqattn.export.litert_run import litert_function
from keras_seqattn.losses import FusedCrossentropy, SmoothedCrossentropy
from keras_seqattn.manifest import verify
from keras_seqattn.metrics import Perplexity, TokenAccuracy
from keras_seqattn.models import (
    ConstantProbability,
    ExponentialProbability,
    InverseSigmoidProbability,
    LinearProbability,
    ScheduledSampling,
)
from keras_seqattn.optimizers import FusedAdam, HalvingDecay, RNMTPlusSchedule
from keras_seqattn.serving.model import ServedModel
from keras_seqattn.testing.case import sample, tensors
from keras_seqattn.text import (
    Characters,
    SentencePiece,
    TextProcessor,
    WordPiece,
    Words,
)
from keras_seqattn.translator import Translator
from seqattn_command import main as seqattn
from tensorboard_plugin_seqattn.plugin import SeqAttentionLoader
