"""Training the PyTorch model: the loop of its tutorials, eager or compiled."""

import torch
from torch import nn

from benchmarks import sizes
from benchmarks.contender import Contender
from benchmarks.rivals.torch_seq2seq import torch_seq2seq
from benchmarks.rivals.torch_weights import arrays

LOSSES_COMPARED = 5


def training(size, compiled=False, steps=5):
    """A contender that trains it; without masks: every position is real."""
    weights = sizes.weights(size)
    model = torch_seq2seq(weights).train()
    forward = torch.compile(model) if compiled else model
    optimizer = torch.optim.Adam(model.parameters(), eps=1e-7)  # Keras's
    criterion = nn.CrossEntropyLoss()
    source, target, labels = (torch.from_numpy(ids).long() for ids in sizes.batch(size))

    def loss_of(logits):
        return criterion(logits.flatten(0, 1), labels.flatten())

    def step():
        optimizer.zero_grad()
        loss = loss_of(forward(source, target))
        loss.backward()
        optimizer.step()
        return loss.item()

    def results():
        logits = forward(source, target)
        loss_of(logits).backward()
        gradients = {name: p.grad for name, p in model.named_parameters()}
        answer = {"logits": logits.detach().numpy()}
        for name, array in arrays(gradients, weights).items():
            answer[f"gradient of {name}"] = array
        for i in range(LOSSES_COMPARED):
            answer[f"loss {i}"] = step()
        return answer

    def fit():
        return sum(step() for _ in range(steps))

    return Contender(fit, results, tokens=steps * labels.numel())
