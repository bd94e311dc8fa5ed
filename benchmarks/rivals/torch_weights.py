"""From Keras's weights by name to PyTorch's parameters, and back.

Kernels are transposed, and the gates of a GRU are r, z, n instead of z, r, n.
"""

import torch

GRUS = {
    "encoder.forward": ("encoder", "_l0"),
    "encoder.backward": ("encoder", "_l0_reverse"),
    "decoder": ("decoder", ""),
}
EMBEDDINGS = ("source_embedding", "target_embedding")


def state_dict(weights):
    """Return PyTorch's parameters by their names."""
    state = {}
    for name, array in weights.items():
        tensor = torch.tensor(array)
        owner, _, part = name.rpartition(".")
        if owner in GRUS:
            module, suffix = GRUS[owner]
            for end, value in _gru_parts(part, tensor):
                state[f"{module}.{end}{suffix}"] = _other_gates(value).contiguous()
        elif name in EMBEDDINGS:
            state[f"{name}.weight"] = tensor
        elif part == "kernel":
            state[f"{owner}.weight"] = tensor.T.contiguous()
        else:
            state[name] = tensor
    return state


def _gru_parts(part, tensor):
    if part == "bias":
        return [("bias_ih", tensor[0]), ("bias_hh", tensor[1])]
    return [("weight_hh" if part == "recurrent_kernel" else "weight_ih", tensor.T)]


def arrays(parameters, names):
    """Return parameters or gradients with the shapes and names of Keras."""
    return {name: _of_keras(parameters, name).detach().numpy() for name in names}


def _of_keras(parameters, name):
    owner, _, part = name.rpartition(".")
    if owner in GRUS:
        module, suffix = GRUS[owner]
        ends = {"bias": ("bias_ih", "bias_hh"), "kernel": ("weight_ih",)}
        ends = ends.get(part, ("weight_hh",))
        found = [_other_gates(parameters[f"{module}.{end}{suffix}"]) for end in ends]
        return torch.stack(found) if part == "bias" else found[0].T
    if name in EMBEDDINGS:
        return parameters[f"{name}.weight"]
    return parameters[f"{owner}.weight"].T if part == "kernel" else parameters[name]


def _other_gates(tensor):
    first, second, candidate = tensor.chunk(3)
    return torch.cat([second, first, candidate])
