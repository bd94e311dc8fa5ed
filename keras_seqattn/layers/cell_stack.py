"""Several recurrent cells on top of each other, one target step at a time."""

from keras_seqattn.layers.base import Composite
from keras_seqattn.layers.split_cell import split_cell


class CellStack(Composite):
    """The `layers` cells of a decoder cell; what is fed back enters at the bottom.

    The state is that of the one cell, or a list with one state per layer.
    """

    def __init__(self, owner, **kwargs):
        super().__init__(dtype=owner.dtype_policy, **kwargs)
        self.units = owner.units
        self.cells = [
            split_cell(owner.cell, owner.units, owner, name=f"layer_{i}")
            for i in range(owner.layers)
        ]

    def build(self, input_depth, fed_depth=None):
        self.cells[0].build(input_depth, fed_depth)
        for cell in self.cells[1:]:
            cell.build(self.units)

    @property
    def state_size(self):
        sizes = [cell.state_size for cell in self.cells]
        return sizes if len(sizes) > 1 else sizes[0]

    def output_of(self, state):
        return self.cells[-1].output_of(state[-1] if len(self.cells) > 1 else state)

    def project(self, inputs):
        return self.cells[0].project(inputs)

    def feed(self, fed):
        return self.cells[0].feed(fed)

    def join(self, projected, fed):
        return self.cells[0].join(projected, fed)

    def step(self, joined, state, training=None):
        if len(self.cells) == 1:
            return self.cells[0].step(joined, state, training)
        output, bottom = self.cells[0].step(joined, state[0], training)
        states = [bottom]
        for cell, past in zip(self.cells[1:], state[1:], strict=True):
            output, new = cell.step(cell.project(output), past, training)
            states.append(new)
        return output, states
