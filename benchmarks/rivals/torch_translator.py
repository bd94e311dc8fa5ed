"""Strings to strings with the same model in PyTorch, eager, without gradients.

SentencePiece's own package reads and writes, `nn.GRU` encodes packed sentences, keys
are computed once per source; the beam is rows of the batch, the memory repeated for it.
"""

import os

import numpy as np
import sentencepiece
import torch
from torch import nn

PAD, START, END = 0, 1, 2


class TorchTranslator(nn.Module):
    """`caglayan2017`; the arguments are those of `PlainTranslator`."""

    def __init__(self, weights, subwords, limit):
        super().__init__()
        self.limit = limit
        self.text = sentencepiece.SentencePieceProcessor(model_proto=subwords)
        vocabulary, depth = weights["target_embedding"].shape
        memory_depth, units = weights["bridge.kernel"].shape
        keys = weights["key.kernel"].shape[1]
        self.source_embedding = nn.Embedding(vocabulary, depth)
        self.target_embedding = nn.Embedding(vocabulary, depth)
        self.encoder = nn.GRU(
            depth, memory_depth // 2, batch_first=True, bidirectional=True
        )
        self.norm = nn.LayerNorm(memory_depth, eps=1e-5)
        self.bridge = nn.Linear(memory_depth, units)
        self.key = nn.Linear(memory_depth, keys, bias=False)
        self.query = nn.Linear(units, keys, bias=False)
        self.score = nn.Linear(keys, 1, bias=False)
        self.first = nn.GRUCell(depth, units)
        self.second = nn.GRUCell(memory_depth, units)
        self.hidden = nn.Linear(units + memory_depth + depth, depth)
        self.logits = nn.Linear(depth, vocabulary)
        self.load_state_dict(_state_dict(weights))
        self.eval()

    def start(self, texts):
        ids = self.text.encode(texts, add_eos=True)
        sizes = torch.tensor([len(row) for row in ids])
        rows = [torch.tensor(row) for row in ids]
        source = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
        packed = nn.utils.rnn.pack_padded_sequence(
            self.source_embedding(source), sizes, True, enforce_sorted=False
        )
        values, _ = nn.utils.rnn.pad_packed_sequence(self.encoder(packed)[0], True)
        mask = source != PAD
        values = self.norm(values) * mask[..., None]
        state = torch.tanh(self.bridge(values.sum(dim=1) / sizes[:, None]))
        limits = self.limit[0] * sizes + self.limit[1]
        return limits, state, (values, self.key(values), mask)

    def step(self, token, state, values, keys, mask):
        embedded = self.target_embedding(token)
        between = self.first(embedded, state)
        hidden = torch.tanh(self.query(between)[:, None] + keys)
        scores = self.score(hidden).squeeze(-1).masked_fill(~mask, -1e9)
        alignment = torch.softmax(scores, dim=-1)
        context = torch.bmm(alignment[:, None], values).squeeze(1)
        state = self.second(context, between)
        read = torch.tanh(self.hidden(torch.cat([state, context, embedded], dim=-1)))
        return self.logits(read), state

    def write(self, tokens):
        return np.array(self.text.decode([row[row > END].tolist() for row in tokens]))

    @torch.inference_mode()
    def greedy(self, texts):
        limits, state, memory = self.start(texts)
        token = limits.new_full((len(texts),), START)
        ended, tokens = torch.zeros_like(token, dtype=torch.bool), []
        while not ended.all():
            logits, state = self.step(token, state, *memory)
            token = logits.argmax(dim=-1).masked_fill(ended, PAD)
            tokens.append(token)
            ended |= (token == END) | (len(tokens) >= limits)
        return (self.write(torch.stack(tokens, dim=1)),)

    @torch.inference_mode()
    def beam(self, texts, k, alpha):
        limits, state, memory = self.start(texts)
        batch = len(texts)
        state, *memory = (x.repeat_interleave(k, dim=0) for x in (state, *memory))
        first_row = torch.arange(0, batch * k, k)[:, None]
        tokens = limits.new_full((batch * k, 1), START)
        scores, lengths = torch.full((batch, k), -1e9), torch.zeros(batch, k)
        scores[:, 0] = 0.0  # all hypotheses start the same, so one continues
        ended = torch.zeros(batch * k, dtype=torch.bool)
        while not ended.all():
            logits, state = self.step(tokens[:, -1], state, *memory)
            gained = torch.log_softmax(logits, dim=-1)
            gained[ended] = -1e9
            gained[ended, PAD] = 0.0
            vocabulary = gained.shape[-1]
            totals = scores[..., None] + gained.view(batch, k, -1)
            lengths = lengths + ~ended.view(batch, k)
            ranking = totals / (((5 + lengths) / 6) ** alpha)[..., None]
            best = ranking.view(batch, -1).topk(k, dim=-1).indices
            scores = totals.view(batch, -1).gather(1, best)
            lengths = lengths.gather(1, best // vocabulary)
            row = (first_row + best // vocabulary).view(-1)
            token = (best % vocabulary).view(-1, 1)
            state = state.index_select(0, row)
            tokens = torch.cat([tokens.index_select(0, row), token], dim=1)
            ended = ended.index_select(0, row) | (token[:, 0] == END)
            ended |= (tokens.shape[1] > limits).repeat_interleave(k)
        return self.write(tokens.view(batch, k, -1)[:, 0, 1:]), scores[:, 0].numpy()


def torch_translator(weights, subwords, limit):
    """Return the model, with as many threads as TensorFlow uses."""
    torch.set_num_threads(os.cpu_count())
    return TorchTranslator(weights, subwords, limit)


def _state_dict(weights):
    """Return Keras's weights for PyTorch: kernels transposed, gates r, z, n."""

    def tensor(array):
        return torch.tensor(array).contiguous()

    embedding = tensor(weights["target_embedding"])
    state = {
        "source_embedding.weight": tensor(weights["source_embedding"]),
        "target_embedding.weight": embedding,
        "logits.weight": embedding,
        "logits.bias": tensor(weights["logits.bias"]),
        "norm.weight": tensor(weights["norm.kernel"]),
        "norm.bias": tensor(weights["norm.bias"]),
    }
    for name in ("bridge", "key", "query", "score", "hidden"):
        state[f"{name}.weight"] = tensor(weights[f"{name}.kernel"].T)
        if f"{name}.bias" in weights:
            state[f"{name}.bias"] = tensor(weights[f"{name}.bias"])
    for name, suffix in (
        ("encoder.forward", "_l0"),
        ("encoder.backward", "_l0_reverse"),
        ("first", ""),
        ("second", ""),
    ):
        bias_in, bias_state = weights[f"{name}.bias"]
        for part, array in (
            ("weight_ih", weights[f"{name}.kernel"]),
            ("weight_hh", weights[f"{name}.recurrent_kernel"]),
            ("bias_ih", bias_in),
            ("bias_hh", bias_state),
        ):
            z, r, n = tensor(array.T).chunk(3)
            state[f"{name.split('.')[0]}.{part}{suffix}"] = torch.cat([r, z, n])
    return state
