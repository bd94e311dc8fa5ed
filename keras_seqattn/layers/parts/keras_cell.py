"""A Keras RNN cell inside a decoder cell."""

import keras
from keras import ops, tree

from keras_seqattn.layers.composite import training_kwargs
from keras_seqattn.layers.parts.dropout import DroppedCell
from keras_seqattn.layers.parts.nested_layers import build_part


class KerasCell(DroppedCell):
    """A Keras RNN cell with the input `[x; c]`; all its products stay in the loop."""

    def __init__(self, cell, units, dropout, **kwargs):
        super().__init__(units, dropout, **kwargs)
        self.cell = cell

    def build(self, input_depth, fed_depth=None):
        super().build(input_depth, fed_depth)
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

    def feed(self, fed, noise=None, training=None):
        return self.read_fed(fed, noise, training)

    def precompute(self, values):
        return ()  # its kernel is not accessible

    def join(self, projected, fed):
        return ops.concatenate([projected, fed], axis=-1)

    def step(self, joined, state, noise=(), training=None):
        """One step: output and new state. A Keras cell has only one batch axis."""
        axes = ops.shape(joined)[:-1]

        def flat(x):
            return ops.reshape(x, (-1, x.shape[-1]))

        states = tree.map_structure(flat, [state] if self._one_state else state)
        output, new = self.cell(flat(joined), states, **training_kwargs(training))
        new = tree.pack_sequence_as(state, tree.flatten(new))
        output, new = tree.map_structure(
            lambda x: ops.reshape(x, axes + (x.shape[-1],)), (output, new)
        )
        return output, new

    @property
    def _one_state(self):
        return isinstance(self.state_size, int)
