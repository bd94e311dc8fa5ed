"""The same model in PyTorch: teacher forcing, greedy and beam search.

Keys once per source, stock `nn.GRU` and `nn.GRUCell`, the readout of a whole target
once after the loop; the beam as rows of the batch, the memory repeated for it.
"""

import os

import torch
from torch import nn

from benchmarks import searching
from benchmarks.rivals.torch_weights import state_dict

PAD, START, END = 0, 1, 2


class TorchSeq2Seq(nn.Module):
    """The reference model; `weights` by their names, as Keras has them."""

    def __init__(self, weights):
        super().__init__()
        vocabulary, depth = weights["target_embedding"].shape
        units = weights["bridge.bias"].shape[0]
        self.source_embedding = nn.Embedding(vocabulary, depth)
        self.target_embedding = nn.Embedding(vocabulary, depth)
        self.encoder = nn.GRU(depth, units, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * units, units)
        self.key = nn.Linear(2 * units, units, bias=False)
        self.query = nn.Linear(units, units, bias=False)
        self.score = nn.Linear(units, 1, bias=False)
        self.decoder = nn.GRUCell(depth + 2 * units, units)
        self.hidden = nn.Linear(3 * units, units)
        self.logits = nn.Linear(units, vocabulary)
        self.load_state_dict(state_dict(weights))

    def forward(self, source, target):
        """Teacher forcing: logits of a whole target."""
        values, keys, state = self.start(source)
        read = []
        for embedded in self.target_embedding(target).unbind(dim=1):
            state, context = self.attend(embedded, state, values, keys)
            read.append(torch.cat([state, context], dim=-1))
        return self.logits(torch.tanh(self.hidden(torch.stack(read, dim=1))))

    def start(self, source):
        values, final = self.encoder(self.source_embedding(source))
        state = torch.tanh(self.bridge(torch.cat([final[0], final[1]], dim=-1)))
        return values, self.key(values), state

    def attend(self, embedded, state, values, keys):
        hidden = torch.tanh(self.query(state)[:, None] + keys)
        alignment = torch.softmax(self.score(hidden).squeeze(-1), dim=-1)
        context = torch.bmm(alignment[:, None], values).squeeze(1)
        return self.decoder(torch.cat([embedded, context], dim=-1), state), context

    def step(self, token, state, values, keys):
        embedded = self.target_embedding(token)
        state, context = self.attend(embedded, state, values, keys)
        read = torch.tanh(self.hidden(torch.cat([state, context], dim=-1)))
        return self.logits(read), state

    @torch.inference_mode()
    def greedy(self, source, length):
        values, keys, state = self.start(source)
        token = source.new_full((len(source),), START)
        ended, tokens = torch.zeros_like(token, dtype=torch.bool), []
        for _ in range(length):
            logits, state = self.step(token, state, values, keys)
            token = logits.argmax(dim=-1).masked_fill(ended, PAD)
            tokens.append(token)
            ended |= token == END
            if ended.all():
                break
        return torch.stack(tokens, dim=1)

    @torch.inference_mode()
    def beam(self, source, length, k):
        batch = len(source)
        start = (x.repeat_interleave(k, dim=0) for x in self.start(source))
        values, keys, state = start
        first_row = torch.arange(0, batch * k, k)[:, None]
        tokens = source.new_full((batch * k, 1), START)
        scores = torch.full((batch, k), -1e9)
        scores[:, 0] = 0.0  # all hypotheses start the same, so one continues
        ended = torch.zeros(batch * k, dtype=torch.bool)
        for _ in range(length):
            logits, state = self.step(tokens[:, -1], state, values, keys)
            gained = torch.log_softmax(logits, dim=-1)
            if ended.any():
                gained[ended] = -1e9
                gained[ended, PAD] = 0.0
            vocabulary = gained.shape[-1]
            flat = (scores[..., None] + gained.view(batch, k, -1)).view(batch, -1)
            scores, best = flat.topk(k, dim=-1)
            row = (first_row + best // vocabulary).view(-1)
            token = (best % vocabulary).view(-1, 1)
            state = state.index_select(0, row)
            tokens = torch.cat([tokens.index_select(0, row), token], dim=1)
            ended = ended.index_select(0, row) | (token[:, 0] == END)
            if ended.all():
                break
        return tokens.view(batch, k, -1)[..., 1:], scores


def torch_seq2seq(weights):
    """Return the model, with as many threads as TensorFlow uses."""
    torch.set_num_threads(os.cpu_count())
    return TorchSeq2Seq(weights)


def search(size, width=None):
    """Return a contender: greedy search, or a beam."""
    model = torch_seq2seq(searching.weights(size)).eval()
    source = torch.from_numpy(searching.source(size)).long()

    def decode():
        if width is None:
            return (model.greedy(source, size.target),)
        return model.beam(source, size.target, width)

    return searching.contender(decode, size)
