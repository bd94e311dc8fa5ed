"""Training the PyTorch model: the loop of its tutorials, eager or compiled."""

import itertools

import torch
from torch import nn

from benchmarks import sizes
from benchmarks.contender import Contender
from benchmarks.rivals.torch_seq2seq import torch_seq2seq
from benchmarks.rivals.torch_weights import arrays

LOSSES_COMPARED = 5


def training(size, compiled=False, steps=5):
    """Return a contender that trains it without masks: every position is real."""
    weights = sizes.weights(size)
    model = torch_seq2seq(weights).train()
    forward = torch.compile(model) if compiled else model
    optimizer, steps_done = torch.optim.Adam(model.parameters()), itertools.count(1)
    criterion = nn.CrossEntropyLoss()
    source, target, labels = (torch.from_numpy(ids).long() for ids in sizes.batch(size))

    def loss_of(logits):
        return criterion(logits.flatten(0, 1), labels.flatten())

    def step():
        optimizer.zero_grad()
        loss = loss_of(forward(source, target))
        loss.backward()
        optimizer.param_groups[0]["eps"] = keras_epsilon(next(steps_done))
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


def keras_epsilon(step):
    """Keras adds its epsilon before it corrects the second moment, PyTorch after it."""
    return 1e-7 / (1 - 0.999**step) ** 0.5
