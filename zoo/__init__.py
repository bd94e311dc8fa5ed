"""Attention models as their papers describe them: one function for each model.

    from keras_seqattn import zoo
    model = zoo.bahdanau2015("small", source_vocabulary=8000, target_vocabulary=8000)

The zoo has functions only, so a saved model loads after `import keras_seqattn`.
"""

from .bahdanau2015 import bahdanau2015, bahdanau2015_optimizer
from .caglayan2017 import caglayan2017, caglayan2017_optimizer
from .chen2018 import chen2018, chen2018_optimizer
from .cho2014 import cho2014, cho2014_optimizer
from .gnmt2016 import gnmt2016, gnmt2016_optimizer
from .luong2015 import luong2015, luong2015_optimizer
from .sennrich2017 import sennrich2017, sennrich2017_optimizer
from .stacked_bilstm import stacked_bilstm, stacked_bilstm_optimizer
from .sutskever2014 import sutskever2014, sutskever2014_optimizer
from .vaswani2017 import vaswani2017, vaswani2017_optimizer
from .wang_simple import wang_simple, wang_simple_optimizer

__all__ = [
    "bahdanau2015",
    "bahdanau2015_optimizer",
    "caglayan2017",
    "caglayan2017_optimizer",
    "chen2018",
    "chen2018_optimizer",
    "cho2014",
    "cho2014_optimizer",
    "gnmt2016",
    "gnmt2016_optimizer",
    "luong2015",
    "luong2015_optimizer",
    "sennrich2017",
    "sennrich2017_optimizer",
    "stacked_bilstm",
    "stacked_bilstm_optimizer",
    "sutskever2014",
    "sutskever2014_optimizer",
    "vaswani2017",
    "vaswani2017_optimizer",
    "wang_simple",
    "wang_simple_optimizer",
]
