"""Several recurrent cells on top of each other, one target step at a time."""

from keras_seqattn.layers.composite import Composite
from keras_seqattn.layers.parts.cell_factory import new_recurrent_cell


class CellStack(Composite):
    """The `layers` cells of a decoder cell; the bottom one reads what is fed back.

    The state is the state of the only cell, or a list with one state per layer.
    """

    def __init__(self, owner, **kwargs):
        super().__init__(dtype=owner.dtype_policy, **kwargs)
        self.units = owner.units
        self.cells = new_recurrent_cells(owner, first=0)

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

    def drop(self, inputs, training=None, axis=1):
        return drop(self.cells, inputs, training, axis)

    def noise(self, like, training=None, axis=1):
        """The masks of all cells that last a sequence of inputs `like` these."""
        return noise_of(self.cells, like, training, axis)

    def read(self, inputs, noise=(), training=None):
        """The inputs of the bottom cell at one step, after dropout."""
        return self.cells[0].read(inputs, noise[0] if noise else (), training)

    def project(self, inputs):
        return self.cells[0].project(inputs)

    def feed(self, fed, noise=None, training=None):
        """The product of the bottom cell; without `noise` there is no dropout."""
        return self.cells[0].feed(fed, noise[0] if noise else noise, training)

    def precompute(self, values):
        return self.cells[0].precompute(values)

    def feed_of_product(self, product):
        return self.cells[0].feed_of_product(product)

    def join(self, projected, fed):
        return self.cells[0].join(projected, fed)

    def step(self, joined, state, noise=(), training=None):
        noise = noise or [()] * len(self.cells)
        if len(self.cells) == 1:
            return self.cells[0].step(joined, state, noise[0], training)
        output, bottom = self.cells[0].step(joined, state[0], noise[0], training)
        states = [bottom]
        for cell, past, masks in zip(self.cells[1:], state[1:], noise[1:], strict=True):
            read = cell.read(output, masks, training)
            output, new = cell.step(cell.project(read), past, masks, training)
            states.append(new)
        return output, states


def new_recurrent_cells(owner, first):
    """A new cell for each layer of `owner`; their names count from `first`."""
    seed = owner.seed
    return [
        new_recurrent_cell(
            owner.cell,
            owner.units,
            owner,
            seed=None if seed is None else seed + i,
            name=f"layer_{first + i}",
        )
        for i in range(owner.layer_count)
    ]


def drop(cells, inputs, training=None, axis=1):
    """Apply dropout to the bottom cell's inputs, and draw the noise of all cells.

    Args:
        cells: bottom first.
        inputs: `[batch, target, ..., embedding]`.
        training: whether dropout applies.
        axis: the axis of time in `inputs`; None: it is one step without that axis.

    Returns:
        The inputs after dropout, and the masks that last a sequence, a `CellNoise` for
        each cell; () without dropout.
    """
    noise = noise_of(cells, inputs, training, axis)
    if not noise:
        return inputs, ()
    return cells[0].read(inputs, noise[0], training, axis), noise


def noise_of(cells, like, training=None, axis=1):
    """A `CellNoise` for each cell; () without dropout. Arguments: see `drop`."""
    if cells[0].dropout.factors is None:
        return ()
    return [cell.noise(like, training, axis) for cell in cells]
