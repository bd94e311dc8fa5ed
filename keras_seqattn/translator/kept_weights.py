"""Copies weights of a trained translator into a new one, as far as they fit."""

import dataclasses

import numpy as np
from keras import ops

from keras_seqattn.errors import four_part_error
from keras_seqattn.models.layer_paths import layer_paths, own_weights
from keras_seqattn.translator.vocabulary_weights import check_known, vocabulary_weights


@dataclasses.dataclass
class KeptWeights:
    """How much a new translator has of a trained one.

    Args:
        rows: `{name: (kept, all)}` of the weights with a row for each token.
        others: `(kept, all)`, the number of all other weights.
    """

    rows: dict
    others: tuple

    @property
    def is_nothing(self):
        rows = (kept for name, (kept, _) in self.rows.items() if name != "output")
        return not any((*rows, self.others[0]))  # a bias of the output always fits

    def __str__(self):
        counts = [*self.rows.values(), self.others]
        if all(kept == size for kept, size in counts):
            return "Kept all weights: no token is new."
        rows = [
            f"{_grouped(kept)} of {_grouped(size)} rows of the {name}"
            for name, (kept, size) in self.rows.items()
        ]
        lines = [f"Kept {_listed(rows)} (shared tokens)."] if rows else []
        kept, size = self.others
        return "\n".join([*lines, f"Kept {kept} of {size} other weights."])


def _grouped(number):
    return f"{number:,}".replace(",", " ")


def _listed(parts):
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def keep_weights(trained, translator):
    """Copy what fits from a trained translator into a new one, and return how much.

    Rows of tokens are copied for tokens that both vocabularies have. All weights of
    another layer are copied if a layer of the same class stands at the same place,
    with weights of the same shapes.
    """
    models = trained.model, translator.model
    if type(models[0]) is not type(models[1]):
        raise four_part_error(
            "transfer got a model of another class than the trained one",
            f"a {type(models[0]).__name__}",
            type(models[1]).__name__,
            "Leave the model out: then the new one is like the trained one",
        )
    check_known(trained, (translator.source_text, translator.target_text))
    rows, done = _keep_rows(trained, translator)
    kept = KeptWeights(rows, _keep_others(*models, done))
    if kept.is_nothing:
        raise four_part_error(
            "transfer found no weight that fits the new model",
            "at least one layer of the same place, class and sizes",
            f"two models {models[0].name!r} and {models[1].name!r} with other sizes",
            "Leave model and sizes out: then they are those of the trained translator",
        )
    return kept


def _keep_rows(trained, translator):
    """Copy rows of shared tokens; return the counts, and ids of these variables."""
    old, new = vocabulary_weights(trained.model), vocabulary_weights(translator.model)
    places = {
        "source": _places(trained.source_text, translator.source_text),
        "target": _places(trained.target_text, translator.target_text),
    }
    done = {id(weight.variable) for weight in old.values()}
    rows = {}
    for name, weight in new.items():
        if id(weight.variable) in done:  # a tied or shared one
            continue
        done.add(id(weight.variable))
        values = weight.rows().copy()
        before = old[name].rows() if name in old else None
        shared = places[weight.side]
        if before is None or before.shape[1:] != values.shape[1:]:
            shared = np.full_like(shared, -1)
        is_kept = shared >= 0
        if is_kept.any():
            values[is_kept] = before[shared[is_kept]]
            weight.assign(values)
        # The kernel and the bias of the output have the same tokens.
        rows.setdefault(name.removesuffix(" bias"), (int(is_kept.sum()), len(values)))
    return rows, done


def _places(old, new):
    """Return the id in the old vocabulary for each new id; -1: it is not there."""
    known = {piece: place for place, piece in enumerate(old.vocabulary)}
    return np.array([known.get(piece, -1) for piece in new.vocabulary])


def _keep_others(old, new, done):
    """Copy layer by layer; return how many weights were copied, and how many exist."""
    before, after = {"": old, **layer_paths(old)}, {"": new, **layer_paths(new)}
    kept = set()
    for path, layer in after.items():
        weights = _others(layer, done)
        if not weights or not _same_kinds(path, before, after):
            continue
        values = _others(before[path], done)
        if [_shape(w) for w in values] == [_shape(w) for w in weights]:
            for weight, value in zip(weights, values, strict=True):
                weight.assign(ops.convert_to_numpy(value))
                kept.add(id(weight))
    return len(kept), len([w for w in new.weights if id(w) not in done])


def _others(layer, done):
    return [weight for weight in own_weights(layer) if id(weight) not in done]


def _shape(weight):
    return weight.name, tuple(weight.shape)


def _same_kinds(path, before, after):
    """Whether the layers at a path, and around it, are of the same kinds."""
    places = [path[:end] for end, letter in enumerate(path) if letter == "/"]
    return all(
        _kind(before.get(place)) == _kind(after.get(place)) for place in (*places, path)
    )


def _kind(layer):
    """Return what the weights of a layer mean: two kinds of GRU may have the same."""
    names = ("kind", "reset_after")
    return type(layer), *(getattr(layer, name, None) for name in names)
