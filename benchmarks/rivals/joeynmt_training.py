"""JoeyNMT's recurrent model in its own training step.

Another model of the same sizes, as JoeyNMT's users get it: attention after the GRU, its
result fed to the next step (input feeding), no bias before the softmax. What it
computes cannot be compared with the others. JoeyNMT needs an old protobuf, and so its
own environment: `make bench-joeynmt`.
"""

import os
from types import SimpleNamespace

import numpy as np
import torch
from joeynmt.batch import Batch
from joeynmt.model import build_model
from joeynmt.vocabulary import Vocabulary

from benchmarks import sizes
from benchmarks.contender import Contender

UNKNOWN, PAD, START, END, WORD = range(5)  # WORD: the first that is real
SPECIAL = SimpleNamespace(
    unk_token="<unk>",
    pad_token="<pad>",
    bos_token="<s>",
    eos_token="</s>",
    sep_token=None,
    unk_id=UNKNOWN,
    pad_id=PAD,
    bos_id=START,
    eos_id=END,
    sep_id=None,
    lang_tags=[],
)


def training(size, steps=5):
    """Return a contender that trains it batch by batch, as `TrainManager` does."""
    torch.set_num_threads(os.cpu_count())
    torch.manual_seed(sizes.SEED)
    model = _model(size)
    optimizer = torch.optim.Adam(model.parameters())
    batch = _batch(size)

    def step():
        batch.sort_by_src_length()
        loss, *_ = model(return_type="loss", **vars(batch))
        loss = batch.normalize(loss, "tokens")
        loss.backward()
        optimizer.step()
        model.zero_grad()
        return loss.item()

    def fit():
        return sum(step() for _ in range(steps))

    note = "another model of the same sizes, which the gate cannot compare"
    tokens = steps * batch.ntokens
    return Contender(fit, lambda: {"loss": step()}, tokens=tokens, notes=(note,))


def _model(size):
    depth = {"embedding_dim": size.embedding}
    part = {"type": "recurrent", "rnn_type": "gru", "hidden_size": size.units}
    part |= {"embeddings": depth, "num_layers": 1}
    vocabulary = Vocabulary([f"w{i}" for i in range(size.vocabulary - WORD)], SPECIAL)
    config = {
        "encoder": {**part, "bidirectional": True},
        "decoder": {**part, "attention": "bahdanau", "init_hidden": "bridge"},
    }
    model = build_model(config, vocabulary, vocabulary).train()
    model.loss_function = ("crossentropy", 0.0)
    return model


def _batch(size):
    source, _, labels = (np.maximum(ids, WORD) for ids in sizes.batch(size))
    ends = np.full((size.batch, 1), START), np.full((size.batch, 1), END)
    target = np.concatenate([ends[0], labels[:, :-1], ends[1]], axis=1)
    return Batch(
        src=torch.from_numpy(source).long(),
        src_length=torch.full((size.batch,), size.source),
        src_prompt_mask=None,
        trg=torch.from_numpy(target).long(),
        trg_prompt_mask=None,
        indices=torch.arange(size.batch),
        device=torch.device("cpu"),
        pad_index=PAD,
        eos_index=END,
    )
