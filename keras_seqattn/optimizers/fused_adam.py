"""Keras's Adam, which updates each weight in one pass through memory."""

import inspect

import keras
import tensorflow as tf

from keras_seqattn.checks import check_choice
from keras_seqattn.errors import abbreviated, four_part_error

_ARGUMENTS = [
    name
    for name, p in inspect.signature(keras.optimizers.Adam).parameters.items()
    if p.kind is not p.VAR_KEYWORD
]


@keras.saving.register_keras_serializable(package="keras_seqattn")
class FusedAdam(keras.optimizers.Adam):
    """`keras.optimizers.Adam` that reads and writes every weight once.

    Keras's Adam updates a weight in a dozen operations, and each of them goes through
    memory: on a CPU this is a tenth of a training step. TensorFlow's kernel does the
    same in one operation. Results and optimizer variables are the same as those of
    Keras's Adam, and it loads the checkpoints of Keras's Adam. With `amsgrad`, which
    the kernel does not support, and on several replicas, it uses the update of Keras.
    The gradient of an embedding row that is read twice is the sum; Keras 3.15 adds up
    the squares of its parts.

    A variable with an attribute `learning_rate_scale` has a learning rate of its own:
    the one of the optimizer, multiplied by this number. The weight decay of the
    variable is multiplied, too. `PretrainedEncoder(learning_rate_scale=0.1)` sets the
    attribute. (A scaled gradient would change nothing, because Adam divides by it.)

    Args:
        learning_rate: a number or a schedule.
        **kwargs: arguments of `keras.optimizers.Adam`.

    Equations:
        m = m + (1 - beta_1) (g - m)
        v = v + (1 - beta_2) (g^2 - v)
        w = w - lr sqrt(1 - beta_2^t) / (1 - beta_1^t) m / (sqrt(v) + epsilon)

    Example:
        >>> optimizer = FusedAdam(1e-3, global_clipnorm=1.0)
        >>> weight = keras.Variable([1.0, 2.0])
        >>> optimizer.apply([keras.ops.array([0.1, -5.0])], [weight])
        >>> print(weight.numpy().round(4))
        [0.999 2.001]

    References:
        Kingma, Ba 2015, arXiv:1412.6980.
    """

    def __init__(self, learning_rate=0.001, **kwargs):
        is_negative = isinstance(learning_rate, (int, float)) and learning_rate < 0
        if is_negative or isinstance(learning_rate, (str, bool, type(None))):
            raise four_part_error(
                "FusedAdam got an unusable learning_rate",
                "a positive number or a schedule",
                f"learning_rate={abbreviated(learning_rate)}",
                "Pass a Python float, e.g. 0.001",
            )
        for name in kwargs:
            check_choice("FusedAdam", "argument", name, _ARGUMENTS)
        super().__init__(learning_rate, **kwargs)

    def build(self, variables):
        self._scales = {
            self._var_key(variable): variable.learning_rate_scale
            for variable in variables
            if getattr(variable, "learning_rate_scale", 1.0) != 1.0
        }
        super().build(variables)

    def _apply_weight_decay(self, variables):
        keys = map(self._var_key, variables)  # `update_step` decays those with a scale
        pairs = zip(keys, variables, strict=True)
        super()._apply_weight_decay([v for key, v in pairs if key not in self._scales])

    def update_step(self, gradient, variable, learning_rate):
        gradient = tf.convert_to_tensor(gradient)  # dense, for embeddings, too
        scale = self._scales.get(self._var_key(variable))
        if scale is not None:
            learning_rate = learning_rate * scale
            if self.weight_decay and self._use_weight_decay(variable):
                decay = tf.cast(learning_rate * self.weight_decay, variable.dtype)
                self.assign_sub(variable, variable * decay)
        if self.amsgrad or tf.distribute.get_strategy().num_replicas_in_sync > 1:
            super().update_step(gradient, variable, learning_rate)
            return
        index, dtype = self._get_variable_index(variable), variable.dtype
        step = tf.cast(self.iterations + 1, dtype)
        tf.raw_ops.ResourceApplyAdam(
            var=_handle(variable),
            m=_handle(self._momentums[index]),
            v=_handle(self._velocities[index]),
            beta1_power=tf.pow(tf.cast(self.beta_1, dtype), step),
            beta2_power=tf.pow(tf.cast(self.beta_2, dtype), step),
            lr=tf.cast(learning_rate, dtype),
            beta1=self.beta_1,
            beta2=self.beta_2,
            epsilon=self.epsilon,
            grad=tf.cast(gradient, dtype),
        )


def _handle(variable):
    is_of_keras = isinstance(variable, keras.Variable)
    return (variable.value if is_of_keras else variable).handle
