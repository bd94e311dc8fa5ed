"""From files to batches: read, filter, encode, group into batches.

A batch has sentences of similar length. Each step is a function; a training script
calls them in turn:

    pairs, report = filter_pairs(read_pairs("train.en", "train.de"))
    encoded = encode(pairs, source_text, target_text)
    model.fit(batches(encoded, batch_tokens=2000), shuffle=False)
"""

from keras_seqattn.data import tasks
from keras_seqattn.data.batch_dataset import batches
from keras_seqattn.data.batch_plan import BatchPlan, plan_batches
from keras_seqattn.data.corpora.cmudict import cmudict
from keras_seqattn.data.corpora.multi30k import multi30k
from keras_seqattn.data.corpora.tatoeba import tatoeba
from keras_seqattn.data.encoded_pairs import EncodedPairs, Ids
from keras_seqattn.data.encoding import encode
from keras_seqattn.data.filter_report import Report
from keras_seqattn.data.filtering import filter_lengths, filter_pairs
from keras_seqattn.data.pair_files import read_pairs
from keras_seqattn.data.pairs import Pairs

__all__ = [
    "BatchPlan",
    "EncodedPairs",
    "Ids",
    "Pairs",
    "Report",
    "batches",
    "cmudict",
    "encode",
    "filter_lengths",
    "filter_pairs",
    "multi30k",
    "plan_batches",
    "read_pairs",
    "tasks",
    "tatoeba",
]
