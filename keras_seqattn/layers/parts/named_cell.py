"""Recurrent cells with separate products for inputs, fed values and the state.

`W x + b` depends on the inputs alone: it is one product for all target steps, before
the loop (`project`). `F c`, of what is fed back (`feed`), and `U h` stay in the loop
(`step`). Dropout acts on the factors: on x and c in `read` and `feed`, on h in `step`.
"""

import keras

from keras_seqattn.layers.composite import clone_initializer
from keras_seqattn.layers.parts.dropout import CellNoise, DroppedCell, masked
from keras_seqattn.layers.parts.gate_norm import GateNorm, forget_gates_open
from keras_seqattn.ops import cell as equations
from keras_seqattn.ops.dispatch import cell_step

GATES = {"simple": 1, "gru": 3, "gru_paper": 3, "lstm": 4}
NORMALIZED = {"layer_norm_gru": 3, "layer_norm_lstm": 4}


class NamedCell(DroppedCell):
    """SimpleRNN, GRU or LSTM with split products; gates in Keras's order.

    Args:
        units: size of the output.
        kind: a name in `GATES`.
        owner: the layer with the initializers.
        **kwargs: of `DroppedCell`.
    """

    gates = GATES

    def __init__(self, units, kind, owner, **kwargs):
        super().__init__(units, **kwargs)
        self.kind = kind
        self.kernel_initializer = owner.kernel_initializer
        self.recurrent_initializer = owner.recurrent_initializer
        self.fed_kernel = None  # `build` makes it if something is fed back
        self.make_products(self.gates[kind] * units)

    def make_products(self, width):
        """The products `W x + b` and `U h`, `[batch, ..., width]`."""
        recurrent = self.recurrent_initializer
        bias = forget_gates_open() if self.kind == "lstm" else "zeros"
        self.input_kernel = self.dense("input_kernel", width, bias=bias)
        self.proposal_kernel = None
        if self.kind == "gru_paper":  # the proposal multiplies r * s instead of s
            self.proposal_kernel = self.dense("proposal_kernel", self.units, recurrent)
            width = 2 * self.units
        bias = "zeros" if self.kind == "gru" else None  # Keras's second, in the reset
        self.recurrent_kernel = self.dense("recurrent_kernel", width, recurrent, bias)

    def dense(self, name, width, initializer=None, bias=None):
        """A new product; `bias` is the initializer of its bias, or None: no bias."""
        return keras.layers.Dense(
            width,
            use_bias=bias is not None,
            bias_initializer=bias or "zeros",
            kernel_initializer=clone_initializer(
                initializer or self.kernel_initializer
            ),
            dtype=self.dtype_policy,
            name=name,
        )

    def build(self, input_depth, fed_depth=None):
        super().build(input_depth, fed_depth)
        self.input_kernel.build((None, input_depth))
        if fed_depth is not None:
            width = self.gates[self.kind] * self.units
            self.fed_kernel = self.dense("fed_kernel", width)
            self.fed_kernel.build((None, fed_depth))
        self.recurrent_kernel.build((None, self.units))
        if self.proposal_kernel is not None:
            self.proposal_kernel.build((None, self.units))

    @property
    def state_size(self):
        return [self.units, self.units] if self.is_lstm else self.units

    @property
    def is_lstm(self):
        return self.kind.endswith("lstm")

    def output_of(self, state):
        """The part of the state that the rest of the network sees."""
        return state[0] if self.is_lstm else state

    def project(self, inputs):
        """`W x + b`, `[batch, ..., gates * units]`: for one step or for all at once."""
        return self.input_kernel(inputs)

    def feed(self, fed, noise=None, training=None):
        """`F c`, `[batch, ..., gates * units]`; c is dropped where there is `noise`."""
        return self.apply_projection(
            self.fed_kernel, self.read_fed(fed, noise, training)
        )

    def precompute(self, values):
        """`F h_j` of all values: their sum, weighted by the alignment, is `F c`."""
        return self.fed_kernel(values)

    def feed_of_product(self, product):
        """The result of `feed`, given the product `F c`."""
        return product

    def join(self, projected, fed):
        """The sum of the results of `project` and `feed`."""
        return projected + fed

    def step(self, joined, state, noise=(), training=None):
        """One step: output and new state; `noise` has the mask of the state.

        Args:
            joined: a result of `join`, or of `project` if nothing is fed.
            state: of the step before.
            noise: `CellNoise`, or ().
            training: not used here.
        """
        recurrent = self._recurrent_product(state, noise)
        if self.kind == "gru_paper":
            mask = CellNoise(*noise).recurrent
            return equations.gru_paper_step(
                joined,
                state,
                recurrent,
                lambda x: self.apply_projection(self.proposal_kernel, masked(x, mask)),
            )
        return cell_step(self.kind)(joined, state, recurrent)

    def _recurrent_product(self, state, noise):
        """`U h`, after dropout of h."""
        h = masked(self.output_of(state), CellNoise(*noise).recurrent)
        return self.apply_projection(self.recurrent_kernel, h)


class NormalizedCell(NamedCell):
    """GRU or LSTM whose products are normalised (Ba et al. 2016), gate by gate.

    Every product has its own mean and variance, so `LN(W x)` can be computed before the
    loop, too.
    """

    gates = NORMALIZED

    def make_products(self, width):
        recurrent = self.recurrent_initializer
        self.input_kernel = self.dense("input_kernel", width)
        self.recurrent_kernel = self.dense("recurrent_kernel", width, recurrent)
        bias = forget_gates_open() if self.is_lstm else "zeros"
        self.input_norm = self._norm("input_norm", bias_initializer=bias)
        self.recurrent_norm = self._norm("recurrent_norm")
        self.fed_norm = self.state_norm = self.proposal_kernel = None

    def _norm(self, name, **options):
        gates = self.gates[self.kind]
        return GateNorm(
            self.units, gates, dtype=self.dtype_policy, name=name, **options
        )

    def build(self, input_depth, fed_depth=None):
        super().build(input_depth, fed_depth)
        self.input_norm.build()
        self.recurrent_norm.build()
        if fed_depth is not None:
            self.fed_norm = self._norm("fed_norm")
            self.fed_norm.build()
        if self.is_lstm:
            self.state_norm = GateNorm(
                self.units, dtype=self.dtype_policy, name="state_norm"
            )
            self.state_norm.build()

    def project(self, inputs):
        """`LN(W x)`, `[batch, ..., gates * units]`: for one step or for all at once."""
        return self.input_norm(super().project(inputs))

    def feed(self, fed, noise=None, training=None):
        """`LN(F c)`, `[batch, ..., gates * units]`."""
        return self.fed_norm(super().feed(fed, noise, training))

    def feed_of_product(self, product):
        return self.fed_norm(product)

    def step(self, joined, state, noise=(), training=None):
        """One step: output and new state, see `NamedCell.step`."""
        recurrent = self.recurrent_norm(self._recurrent_product(state, noise))
        if self.is_lstm:
            return equations.layer_norm_lstm_step(
                joined, state, recurrent, self.state_norm
            )
        return equations.layer_norm_gru_step(joined, state, recurrent)
