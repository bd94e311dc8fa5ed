"""A model that was trained before, for example BERT, as the encoder."""

import math

import keras
from keras import ops, tree

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.layers.composite import Composite
from keras_seqattn.layers.parts.checks import check_mask, check_rank
from keras_seqattn.layers.parts.hub import import_hub, is_of_hub
from keras_seqattn.layers.parts.nested_layers import deserialize_part, serialize_part
from keras_seqattn.ops.mask import zero_padding
from keras_seqattn.types import Encoded

_KNOWN = {"token_ids", "padding_mask", "segment_ids"}  # inputs of KerasHub's backbones
_POSITIONS = 4  # of the shape with which a backbone is tried


@keras.saving.register_keras_serializable(package="keras_seqattn")
class PretrainedEncoder(Composite):
    """A trained Keras model, for example a backbone of KerasHub, as the encoder.

    It reads the raw source itself: `Seq2Seq(source_embedding=None, encoder=...)`. It
    has no state: a decoder that starts from one needs a bridge that pools the values,
    `DenseBridge(units, inputs="mean")`.

    With `trainable=False` the weights of the backbone stay as they are, and it runs as
    in inference, without dropout. `FusedAdam` reads `learning_rate_scale`; `compile` of
    the models refuses other optimizers when it is not 1.

    Args:
        backbone: `keras.Model` that returns a sequence `[batch, source, depth]`, or a
            dict with it as "sequence_output". Its input is the source alone, or a dict
            with "token_ids" and, if it has them, "padding_mask" and "segment_ids".
            All tokens get the segment 0.
        trainable: whether training changes the backbone.
        learning_rate_scale: number with which the optimizer multiplies the learning
            rate of the backbone. Pretrained weights mostly need a smaller one, e.g.
            0.1.
        **kwargs: of `keras.layers.Layer`.

    Call arguments:
        inputs: the source: ids `[batch, source]`; or numbers `[batch, source, depth]`,
            if the backbone reads these.
        mask: `[batch, source]` bool, True = real. Padding may hold anything, unless the
            backbone reads ids and has no input "padding_mask": then it must find the
            padding in the ids (`mask_zero`). None: everything is real.
        training: whether dropout is on.

    Returns:
        `Encoded(values, mask, state)`, the state an empty list.

    Equations:
        h_1, ..., h_S = backbone(x_1, ..., x_S)

    Shapes:
        inputs: [batch, source, depth], or ids [batch, source]
        values: [batch, source, memory_depth]
        mask: [batch, source]

    Example:
        >>> ids = keras.Input((None,), dtype="int32")
        >>> backbone = keras.Model(ids, keras.layers.Embedding(20, 8)(ids))
        >>> encoder = PretrainedEncoder(backbone, trainable=False)
        >>> encoder(keras.ops.array([[5, 6, 2]])).values.shape
        TensorShape([1, 3, 8])

    References:
        Devlin et al. 2019, arXiv:1810.04805 (BERT).
        Rothe, Narayan, Severyn 2020, arXiv:1907.12461 (for generation).
    """

    reads_source = True

    def __init__(self, backbone, trainable=True, learning_rate_scale=1.0, **kwargs):
        super().__init__(**kwargs)
        _check_scale(learning_rate_scale)
        self.backbone, self.learning_rate_scale = backbone, learning_rate_scale
        self._inputs = _inputs_of(backbone)
        ids = self._inputs
        if isinstance(ids, dict):
            _check_names(ids)
            ids = ids["token_ids"]
        self.source_shape = (None, None, *ids.shape[2:])
        self._depth = _try(backbone, self._inputs)
        if not trainable:
            self.trainable = False  # each of its weights knows it, too
        _freeze_unused(backbone)
        if len(self.source_shape) > 2:
            backbone.supports_masking = True  # from layer to layer
        if learning_rate_scale != 1.0:
            for variable in backbone.variables:
                variable.learning_rate_scale = learning_rate_scale
        self.built = True

    @classmethod
    def from_preset(cls, preset, load_weights=True, dtype=None, **options):
        """Return an encoder with a backbone of KerasHub.

        Args:
            preset: of `keras_hub.models.Backbone.from_preset`: the name of a preset, or
                the path of a folder that `save_to_preset` has written.
            load_weights: whether to load the weights, too, or to begin at random.
            dtype: of the backbone and of the layer; None: the one of Keras.
            **options: `trainable`, `learning_rate_scale`, `name`.
        """
        hub = import_hub(f"{cls.__name__}.from_preset")
        own = {} if dtype is None else {"dtype": dtype}
        backbone = hub.models.Backbone.from_preset(preset, load_weights, **own)
        return cls(backbone, **own, **options)

    @property
    def vocabulary_size(self):
        """The number of ids that the backbone knows; None: it does not say."""
        return getattr(self.backbone, "vocabulary_size", None)

    @property
    def max_length(self):
        """The greatest number of source positions; None: it does not say."""
        return getattr(self.backbone, "max_sequence_length", None)

    def build(self, inputs_shape, mask_shape=None):
        """Do nothing: the backbone has its weights."""

    def call(self, inputs, mask=None, training=None):
        self._check_inputs(inputs, mask)
        given = mask
        if mask is None:
            mask = ops.ones(ops.shape(inputs)[:2], "bool")
        options = {} if training is None else {"training": training}
        if not (self.trainable and self.backbone.trainable):
            options = {"training": False}
        if isinstance(self._inputs, dict):
            values = self.backbone(self._dict(inputs, mask), **options)
        else:
            if len(self.source_shape) > 2 and given is not None:
                inputs, options["mask"] = zero_padding(inputs, given), given
            values = self.backbone(inputs, **options)
        values = ops.cast(_sequence(values), self.compute_dtype)
        return Encoded(zero_padding(values, given), mask, [])

    def _dict(self, ids, mask):
        """The inputs of a backbone of KerasHub."""
        padding = ops.cast(mask, "int32")
        if "padding_mask" in self._inputs:
            ids = ids * ops.cast(mask, ids.dtype)  # any ids may stand in the padding
        found = {"token_ids": ids, "padding_mask": padding}
        found["segment_ids"] = ops.zeros_like(padding)
        return {name: found[name] for name in self._inputs}

    def compute_mask(self, inputs, mask=None):
        return Encoded(mask, None, [])

    def compute_output_shape(self, inputs_shape, mask_shape=None):
        rows = tuple(inputs_shape[:2])
        return Encoded((*rows, self._depth), rows, [])

    def compute_output_spec(self, inputs, mask=None, training=None):
        self._check_inputs(inputs, mask)
        shapes = self.compute_output_shape(inputs.shape)
        values = keras.KerasTensor(shapes.values, dtype=self.compute_dtype)
        return Encoded(values, keras.KerasTensor(shapes.mask, dtype="bool"), [])

    def get_config(self):
        return {
            **super().get_config(),
            "backbone": serialize_part(self.backbone),
            "trainable": self.trainable,
            "learning_rate_scale": self.learning_rate_scale,
        }

    @classmethod
    def from_config(cls, config):
        backbone = config["backbone"]
        if is_of_hub(backbone):  # Keras knows its classes only after the import
            import_hub(cls.__name__)
        return cls(**{**config, "backbone": deserialize_part(backbone)})

    def _check_inputs(self, inputs, mask):
        owner, shape = type(self).__name__, tuple(inputs.shape)
        depth = ", depth" if len(self.source_shape) == 3 else ""
        check_rank(owner, "source", shape, f"[batch, source{depth}]")
        check_mask(owner, mask, "source", shape, "source", "mask")
        if self.max_length is not None and (shape[1] or 0) > self.max_length:
            raise four_part_error(
                f"{owner} got more positions than its backbone has learned",
                f"at most {self.max_length}",
                f"{shape[1]} positions",
                "Cut the texts, e.g. with Translator(..., max_source="
                f"{self.max_length - 1}), which leaves room for the end token",
            )


def _check_scale(scale):
    is_number = isinstance(scale, (int, float)) and not isinstance(scale, bool)
    if not is_number or not 0 < scale < math.inf:
        raise four_part_error(
            "PretrainedEncoder got an unusable learning_rate_scale",
            "a positive number",
            f"learning_rate_scale={abbreviated(scale)}",
            "Pass e.g. 0.1; with trainable=False the weights do not change at all",
        )


def _inputs_of(backbone):
    """The inputs of a model, a tensor or a dict; ids if it does not say."""
    if not isinstance(backbone, keras.Model):
        raise _unusable(abbreviated(backbone))
    inputs = _known(backbone, "input", "inputs")
    if inputs is None:
        return keras.KerasTensor((None, None), dtype="int32")
    if isinstance(inputs, dict):
        return inputs
    [first, *others] = tree.flatten(inputs)
    if others:
        raise _unusable(f"a model with {1 + len(others)} inputs without names")
    return first


def _known(backbone, *names):
    """The first of some attributes that a model has.

    A Functional model has `input` and `output`, a built Sequential `inputs`, and a
    model that is a subclass none.
    """
    for name in names:
        try:
            return getattr(backbone, name)
        except (AttributeError, ValueError):  # of Keras: not called yet
            continue
    return None


def _check_names(inputs):
    names = set(inputs)
    if not names <= _KNOWN or "token_ids" not in names:
        raise four_part_error(
            "PretrainedEncoder got a backbone with inputs that it cannot fill",
            f"token_ids, and none but {sorted(_KNOWN)}",
            f"{sorted(names)}",
            "Of a model with a decoder, pass its encoder alone, as a keras.Model from "
            "the source to the values",
        )


def _try(backbone, inputs):
    """Call a backbone on symbols, which builds it, and return the depth of its values.

    A symbol has a length, to see whether the backbone keeps it.
    """

    def symbol(x):
        return keras.KerasTensor((None, _POSITIONS, *x.shape[2:]), dtype=x.dtype)

    ranks = {len(x.shape) for x in tree.flatten(inputs)}
    if not ranks <= {2, 3}:
        raise _unusable(f"inputs of shape {tree.flatten(inputs)[0].shape}")
    values = _sequence(backbone(tree.map_structure(symbol, inputs)))
    shape = getattr(values, "shape", ())
    if len(shape) != 3 or shape[1] not in (_POSITIONS, None) or shape[2] is None:
        received = f"shape {tuple(shape)} for {_POSITIONS} positions" if shape else None
        raise _unusable(f"results of {received or abbreviated(values)}")
    return shape[2]


def _freeze_unused(backbone):
    """Freeze weights that the values do not depend on, e.g. those of BERT's pooling.

    They have no gradient, of which Keras would warn.
    """
    results = _known(backbone, "output")
    if isinstance(results, dict):
        used = keras.Model(backbone.inputs, results["sequence_output"]).variables
        used = {id(variable) for variable in used}
        for variable in backbone.trainable_variables:
            variable.trainable = id(variable) in used


def _sequence(results):
    """The sequence among the results of a backbone."""
    return results.get("sequence_output") if isinstance(results, dict) else results


def _unusable(received):
    return four_part_error(
        "PretrainedEncoder got an unusable backbone",
        "a keras.Model from a source [batch, source] or [batch, source, depth] to "
        'values [batch, source, depth], or to a dict with them as "sequence_output"',
        received,
        "Pass e.g. keras_hub.models.BertBackbone.from_preset(...)",
    )
