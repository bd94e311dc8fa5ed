"""Luong et al. 2015: multiplicative scores and their relatives."""

import keras

from keras_seqattn.checks import check_choice, check_count
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.layers.attention import Attention
from keras_seqattn.ops.precision import at_least_float32
from keras_seqattn.ops.score import additive_score, dot_score, location_score

SCORES = ("concat", "dot", "general", "location", "scaled_dot")
OTHER_NAMES = {  # of lectures and of other papers
    "additive": "concat",
    "bilinear": "general",
    "mlp": "concat",
    "multiplicative": "general",
}


@keras.saving.register_keras_serializable(package="keras_seqattn")
class LuongAttention(Attention):
    """Global attention of Luong et al., with each of their scores.

    Args:
        score: "dot" and "scaled_dot" need query_depth = memory_depth; "general" has a
            matrix between them; "concat" is a small network (additive, as Bahdanau's);
            "location" looks at the query alone. Other names are accepted: "bilinear"
            and "multiplicative" are "general", "additive" and "mlp" are "concat".
        units: hidden size of "concat"; None: the depth of the query.
        scale: a learned factor of the dot product ("scaled Luong" in the toolkits), for
            "dot" and "general".
        maximum_source: for "location", the longest source that W_a covers; positions
            beyond it get nothing.
        **kwargs: of `Attention`.

    Call arguments, Returns: those of `Attention`.

    Equations:
        dot: e[b, s] = sum{query[b, u] * value[b, s, u] : u}  Luong (3.1: dot)
        scaled_dot: the same, divided by sqrt(memory_depth)
        general: e[b, s] = sum{query[b, u] * (W_a value)[b, s, u] : u}
            Luong (3.1: general)
        concat: e[b, s] = sum{v_a[u] * tanh((W_a [query; value])[b, s, u]) : u}
            Luong (3.1: concat)
        location: e[b, s] = (W_a query)[b, s]  Luong (8)
        Three scores have no number in the paper: 3.1 is their section.

    Shapes:
        query: [batch, target, query_depth]
        value: [batch, source, memory_depth]
        context: [batch, target, memory_depth]
        alignment: [batch, target, source]

    Example:
        >>> attention = LuongAttention("general")
        >>> query, value = keras.ops.ones((2, 3, 4)), keras.ops.ones((2, 5, 6))
        >>> attention(query, value).shape
        TensorShape([2, 3, 6])

    References:
        Luong, Pham, Manning 2015, arXiv:1508.04025.
        Vaswani et al. 2017, arXiv:1706.03762 (scaled dot).
    """

    def __init__(
        self,
        score="general",
        units=None,
        scale=False,
        maximum_source=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        names = (*SCORES, *OTHER_NAMES)
        check_choice(type(self).__name__, "score", score, names)
        self.score_name, self.units = OTHER_NAMES.get(score, score), units
        self.scale, self.maximum_source = scale, maximum_source
        self._check_arguments()
        self.query_projection = self.key_projection = None

    def _check_arguments(self):
        owner, score = type(self).__name__, self.score_name
        if self.units is not None:
            check_count(owner, "units", self.units)
        for name, used_by in (
            ("units", ("concat",)),
            ("scale", ("dot", "general")),
            ("maximum_source", ("location",)),
        ):
            if getattr(self, name) and score not in used_by:
                raise four_part_error(
                    f"{owner} got an argument that score={score!r} does not use",
                    f"{name} only with score in {used_by}",
                    f"{name}={abbreviated(getattr(self, name))}",
                    f"Drop {name}, or change the score",
                )
        if score == "location":
            check_count(owner, "maximum_source", self.maximum_source)

    def build(self, query_shape, value_shape, key_shape=None):
        super().build(query_shape, value_shape, key_shape)
        query_depth = query_shape[-1]
        if self.score_name == "general":
            self.key_projection = self.make_projection(query_depth, "key_projection")
        elif self.score_name == "concat":
            units = self.units or query_depth
            self.query_projection = self.make_projection(units, "query_projection")
            self.key_projection = self.make_projection(units, "key_projection")
            self.v = self.add_weight(
                name="v", shape=(units,), initializer=self.kernel_initializer
            )
        elif self.score_name == "location":
            self.query_projection = self.make_projection(
                self.maximum_source, "query_projection"
            )
        if self.query_projection is not None:
            self.query_projection.build(query_shape)
        if self.key_projection is not None:
            self.key_projection.build(key_shape or value_shape)
        self.g = None
        if self.scale:
            self.g = self.add_weight(name="g", shape=(), initializer="ones")

    @property
    def needs_positions(self):
        return self.score_name == "location"

    @property
    def takes_key(self):
        return super().takes_key and self.score_name != "location"

    @property
    def _has_fast_score(self):
        return self.score_name == "concat"

    def project_keys(self, value):
        keys = value if self.key_projection is None else self.key_projection(value)
        return at_least_float32(keys) if self.score_name == "concat" else keys

    def score(self, query, memory, state=()):
        if self.query_projection is not None:
            query = self.apply_projection(self.query_projection, query)
        if self.score_name == "location":
            return location_score(query, memory.positions)
        if self.score_name == "concat":
            score = self._implementation_of(additive_score)
            v = self.compute_weight(self.v)
            return score(query, memory.keys, v)  # Luong (3.1: concat)
        scale = None if self.g is None else self.compute_weight(self.g)
        if self.score_name == "scaled_dot":
            scale = memory.keys.shape[-1] ** -0.5
        return dot_score(query, memory.keys, scale)  # Luong (3.1: general)

    def check_shapes(self, query_shape, value_shape):
        super().check_shapes(query_shape, value_shape)
        if "dot" in self.score_name and query_shape[-1] != value_shape[-1]:
            raise four_part_error(
                f"LuongAttention got score={self.score_name!r} for unequal depths",
                "query_depth = memory_depth",
                f"{query_shape[-1]} and {value_shape[-1]}",
                "Use score='general' (a matrix between the two), or make the depths "
                "equal",
            )

    def get_config(self):
        config = {
            "score": self.score_name,
            "units": self.units,
            "scale": self.scale,
            "maximum_source": self.maximum_source,
        }
        return {**super().get_config(), **config}
