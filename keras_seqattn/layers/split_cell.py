"""Recurrent cells whose products are split by when their factors are known.

`W x + b` depends on the inputs alone: all target steps in one product, before the loop
(`project`). `F c`, of what is fed back (`feed`), and `U h` stay in the loop (`step`).
"""

import keras
from keras import ops, tree

from keras_seqattn.layers import checks
from keras_seqattn.layers.base import Composite, build_part, fresh
from keras_seqattn.layers.training import given
from keras_seqattn.ops import cell as equations

GATES = {"simple": 1, "gru": 3, "gru_paper": 3, "lstm": 4}


def split_cell(cell, units, owner, **kwargs):
    """The cell for a name, or around a copy of a Keras RNN cell.

    Args:
        cell: "gru" (Keras's and cuDNN's), "gru_paper" (Bahdanau et al.), "lstm",
            "simple", or the `Template` of a Keras RNN cell, which then runs as it is.
        units: size of the output.
        owner: the layer whose argument this is, for its dtype, initializers and name.
        **kwargs: of `keras.layers.Layer`.
    """
    kwargs["dtype"] = owner.dtype_policy
    if isinstance(cell, str):
        checks.check_choice(type(owner).__name__, "cell", cell, GATES)
        return NamedCell(
            units, cell, owner.kernel_initializer, owner.recurrent_initializer, **kwargs
        )
    return KerasCell(cell.new(), **kwargs)


class NamedCell(Composite):
    """SimpleRNN, GRU or LSTM with split products; gates in Keras's order."""

    def __init__(
        self, units, kind, kernel_initializer, recurrent_initializer, **kwargs
    ):
        super().__init__(**kwargs)
        self.units, self.kind = units, kind
        self.kernel_initializer = kernel_initializer
        self.recurrent_initializer = recurrent_initializer
        width, recurrent = GATES[kind] * units, recurrent_initializer
        bias = _forget_gates_open if kind == "lstm" else "zeros"
        self.input_kernel = self._dense("input_kernel", width, bias=bias)
        self.fed_kernel = None  # made by `build` where something is fed
        self.proposal_kernel = None
        if kind == "gru_paper":  # the proposal multiplies r * s instead of s
            self.proposal_kernel = self._dense("proposal_kernel", units, recurrent)
            width = 2 * units
        bias = "zeros" if kind == "gru" else None  # Keras's second one, in the reset
        self.recurrent_kernel = self._dense("recurrent_kernel", width, recurrent, bias)

    def _dense(self, name, width, initializer=None, bias=None):
        return keras.layers.Dense(
            width,
            use_bias=bias is not None,
            bias_initializer=bias or "zeros",
            kernel_initializer=fresh(initializer or self.kernel_initializer),
            dtype=self.dtype_policy,
            name=name,
        )

    def build(self, input_depth, fed_depth=None):
        self.input_kernel.build((None, input_depth))
        if fed_depth is not None:
            self.fed_kernel = self._dense("fed_kernel", GATES[self.kind] * self.units)
            self.fed_kernel.build((None, fed_depth))
        self.recurrent_kernel.build((None, self.units))
        if self.proposal_kernel is not None:
            self.proposal_kernel.build((None, self.units))

    @property
    def state_size(self):
        return [self.units, self.units] if self.kind == "lstm" else self.units

    def output_of(self, state):
        """The part of the state that the rest of the network sees."""
        return state[0] if self.kind == "lstm" else state

    def project(self, inputs):
        """`W x + b`, `[batch, ..., gates * units]`: for one step or for all at once."""
        return self.input_kernel(inputs)

    def feed(self, fed):
        """`F c`, `[batch, ..., gates * units]`."""
        return self.fed_kernel(fed)

    def join(self, projected, fed):
        """The preactivations, given `project` and `feed`."""
        return projected + fed

    def step(self, joined, state, training=None):
        """One step: output and new state; `training` makes no difference here."""
        if self.kind == "gru_paper":
            kernels = self.recurrent_kernel, self.proposal_kernel
            return equations.gru_paper_step(joined, state, *kernels)
        step = getattr(equations, f"{self.kind}_step")
        return step(joined, state, self.recurrent_kernel)


class KerasCell(Composite):
    """A Keras RNN cell as it is: its input is `[x; c]`, and nothing is hoisted."""

    def __init__(self, cell, **kwargs):
        super().__init__(**kwargs)
        self.cell = cell

    def build(self, input_depth, fed_depth=None):
        build_part(self, self.cell, (None, input_depth + (fed_depth or 0)))

    @property
    def state_size(self):
        size = self.cell.state_size
        listed = isinstance(size, (list, tuple)) and len(size) == 1
        return size[0] if listed and isinstance(size[0], int) else size

    def output_of(self, state):
        """The output of the last step: `h` of the (last) cell."""
        if isinstance(self.cell, keras.layers.StackedRNNCells) and not self._one_state:
            state = state[-1]
        return tree.flatten(state)[0]

    def project(self, inputs):
        return inputs

    def feed(self, fed):
        return fed

    def join(self, projected, fed):
        return ops.concatenate([projected, fed], axis=-1)

    def step(self, joined, state, training=None):
        """One step: output and new state. A Keras cell knows one batch axis only."""
        axes = ops.shape(joined)[:-1]

        def flat(x):
            return ops.reshape(x, (-1, x.shape[-1]))

        states = tree.map_structure(flat, [state] if self._one_state else state)
        output, new = self.cell(flat(joined), states, **given(training))
        new = tree.pack_sequence_as(state, tree.flatten(new))
        output, new = tree.map_structure(
            lambda x: ops.reshape(x, axes + (x.shape[-1],)), (output, new)
        )
        return output, new

    @property
    def _one_state(self):
        return isinstance(self.state_size, int)


def _forget_gates_open(shape, dtype=None):
    """LSTM bias: 1 for the forget gate, as in Keras (Jozefowicz et al. 2015)."""
    return ops.repeat(ops.array([0.0, 1.0, 0.0, 0.0], dtype), shape[0] // 4)
