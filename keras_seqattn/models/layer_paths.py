"""The layers inside a model, by paths of attributes: `decoder/cell/attention`."""

import functools

import keras


def layer_paths(model):
    """Return `{path: layer}` of all layers inside a model, outer layers first.

    A path has the names of the attributes that hold the layers. Layers in a list have
    their place in it, and layers of a `Sequential` or Functional model their names. A
    shared layer has several paths.
    """
    found = {}
    _visit(model, "", (), found)
    return found


def own_weights(layer):
    """Return the weights of a layer that do not belong to a layer inside it."""
    inner = {id(w) for child in _children(layer).values() for w in child.weights}
    return [weight for weight in layer.weights if id(weight) not in inner]


def _visit(layer, path, above, found):
    for name, child in _children(layer).items():
        if child not in above:  # a layer may know the layer that holds it
            found[f"{path}{name}"] = child
            _visit(child, f"{path}{name}/", (*above, layer), found)


def _children(layer):
    """Return the layers that a layer holds, by name."""
    is_functional = isinstance(layer, keras.Model) and hasattr(layer, "operations")
    if is_functional or isinstance(layer, keras.Sequential):
        return {child.name: child for child in layer.layers}
    found = {}
    for name, value in vars(layer).items():
        if name in _of_keras() or name.startswith("_self_"):  # they hold all once more
            continue
        items = {"": value}
        if isinstance(value, (list, tuple)):
            items = {f"/{place}": item for place, item in enumerate(value)}
        elif isinstance(value, dict):
            items = {f"/{key}": item for key, item in value.items()}
        for place, item in items.items():
            if isinstance(item, keras.layers.Layer):
                found[f"{name}{place}"] = item
    return found


@functools.cache
def _of_keras():
    """Return the attributes that every layer and every model has."""
    return {*vars(keras.layers.Layer(name="any")), *vars(keras.Model(name="any"))}
