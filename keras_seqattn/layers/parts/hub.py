"""KerasHub, an optional package that is imported when it is used and not before."""

from keras_seqattn.errors import missing_package


def import_hub(owner):
    """Return the module `keras_hub`; Keras then knows the classes of its files."""
    try:
        import keras_hub
    except ImportError as error:
        raise missing_package(owner, "keras-hub", error, extra="hub") from error
    return keras_hub


def is_of_hub(config):
    """Whether a serialised object is one of KerasHub."""
    name = config.get("registered_name") if isinstance(config, dict) else None
    return isinstance(name, str) and name.startswith("keras_hub>")
