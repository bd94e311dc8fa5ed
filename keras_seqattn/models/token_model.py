"""The base of the models from token ids to logits: losses, checks of data, files."""

import inspect

import keras

from keras_seqattn.errors import four_part_error
from keras_seqattn.models.checkpoint import readable_weights
from keras_seqattn.models.fit_arguments import (
    bind,
    check_arguments,
    check_loss,
    logits_part,
    with_logits_part,
)
from keras_seqattn.models.token_data import (
    checked_data,
    checked_inputs,
    errors_in_one_line,
)
from keras_seqattn.models.token_loss import (
    check_optimizer,
    check_scales,
    token_loss,
)
from keras_seqattn.models.token_metrics import check_metrics
from keras_seqattn.models.token_outputs import (
    check_single,
    compile_arguments,
    trained_names,
    trained_parts,
)


class TokenModel(keras.Model):
    """Base of the models from token ids to logits.

    It checks data before Keras traces anything, so that a mistake has an error of one
    line. Nested lists and ragged tensors of unequal lengths are padded at the right.
    The compiled step contains no check. A subclass has these attributes:
        pad: id of the padding of the target.
        source_pad: that of the source; without it, the same.
        vocabularies: dict, "source", "target" (inputs) and "labels" to the size of
            the vocabulary, or to None where it is not known. An input that is not in it
            has no ids.
    """

    names_of_inputs = ("source", "target")
    named_outputs = ()  # names of the dict that a call returns; (): it returns logits
    trained_outputs = ()  # those with a loss or a metric; (): only the logits

    def check_masks(self, inputs):
        """Check masks among the inputs, a dict, before a graph hides them."""

    def __call__(self, inputs, *args, **kwargs):
        return super().__call__(checked_inputs(self, inputs), *args, **kwargs)

    def compile(self, optimizer="rmsprop", loss=None, *args, **kwargs):
        """Configure the training, as `keras.Model.compile` does.

        Args:
            optimizer: of `keras.Model.compile`.
            loss: "auto": `FusedCrossentropy()`, without all logits; or any other loss.
                The name "sparse_categorical_crossentropy" means "auto". Of a model
                with several outputs, it is the loss of the logits, or a dict of losses.
            *args: of `keras.Model.compile`.
            **kwargs: of `keras.Model.compile`.
        """
        owner = type(self).__name__
        check_optimizer(owner, optimizer)
        check_scales(self, optimizer)
        of_logits = token_loss(owner, logits_part(loss))
        if not self.named_outputs:
            check_single(self, loss)
        if not isinstance(loss, dict) or "logits" in loss:
            loss = with_logits_part(loss, of_logits)
        arguments = bind(owner, super().compile, (optimizer, loss, *args), kwargs)
        for name in ("metrics", "weighted_metrics"):
            metrics = arguments.get(name)
            if self.named_outputs and isinstance(metrics, dict):
                metrics = [logits_part(metrics)]
            check_metrics(owner, name, metrics, of_logits)
        if self.named_outputs:
            arguments = compile_arguments(owner, self.named_outputs, arguments)
        self._compile(arguments)

    def compile_from_config(self, config):
        """Compile from the config of a file, which `compile` has checked before."""
        self._compile(keras.saving.deserialize_keras_object(config))
        if self.optimizer is not None:
            self.optimizer.build(self.trainable_variables)

    def _compile(self, arguments):
        if self.named_outputs:
            self.trained_outputs = trained_names(self.named_outputs, arguments)
        super().compile(**arguments)

    def compute_loss(
        self, x=None, y=None, y_pred=None, sample_weight=None, training=True
    ):
        """Compute the loss as `keras.Model.compute_loss`, of the trained outputs."""
        if self.named_outputs:
            y, y_pred, sample_weight = trained_parts(self, y, y_pred, sample_weight)
        return super().compute_loss(x, y, y_pred, sample_weight, training)

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """Compute metrics as `keras.Model.compute_metrics`, of the trained outputs."""
        if self.named_outputs:
            y, y_pred, sample_weight = trained_parts(self, y, y_pred, sample_weight)
        return super().compute_metrics(x, y, y_pred, sample_weight)

    def fit(self, *args, **kwargs):
        """Train as `keras.Model.fit`, but without `class_weight`."""
        return self._run(super().fit, args, kwargs)

    def evaluate(self, *args, **kwargs):
        """Evaluate as `keras.Model.evaluate`."""
        return self._run(super().evaluate, args, kwargs)

    def predict(self, *args, **kwargs):
        """Compute logits as `keras.Model.predict`."""
        return self._run(super().predict, args, kwargs)

    def train_on_batch(self, *args, **kwargs):
        """Train as `keras.Model.train_on_batch`, but without `class_weight`."""
        return self._run(super().train_on_batch, args, kwargs)

    def test_on_batch(self, *args, **kwargs):
        """Evaluate as `keras.Model.test_on_batch`."""
        return self._run(super().test_on_batch, args, kwargs)

    def predict_on_batch(self, *args, **kwargs):
        """Compute logits as `keras.Model.predict_on_batch`."""
        return self._run(super().predict_on_batch, args, kwargs)

    def _run(self, method, args, kwargs):
        """Call a method of Keras on data that are checked."""
        arguments = bind(type(self).__name__, method, args, kwargs)
        private = arguments.pop("kwargs", {})  # `fit` keeps a dataset for `evaluate`
        check_arguments(type(self).__name__, method.__name__, arguments)
        errors = []
        if not private:
            is_labelled = "y" in inspect.signature(method).parameters
            if is_labelled:
                check_loss(self, method.__name__, TokenModel.compute_loss)
            arguments = checked_data(self, arguments, errors, is_labelled)
        with errors_in_one_line(self, errors):
            return method(**arguments, **private)

    def load_weights(self, filepath, *args, **kwargs):
        """Load weights as `keras.Model.load_weights`."""
        with readable_weights(self, filepath):
            super().load_weights(filepath, *args, **kwargs)

    def save(self, filepath, overwrite=True, zipped=None, **kwargs):
        """Save the model as `keras.Model.save`, in a `.keras` file only."""
        _check_path(type(self).__name__, str(filepath), zipped)
        super().save(filepath, overwrite, zipped, **kwargs)


def _check_path(owner, path, zipped):
    """Keras cannot load an HDF5 file of a model that is a class."""
    is_folder = zipped is False or path.startswith("hf://")
    if path.endswith(".keras") or is_folder and not path.endswith((".h5", ".hdf5")):
        return
    name = path.rpartition("/")[2]
    raise four_part_error(
        f"{owner}.save got an unusable file name",
        "a name that ends with .keras",
        repr(name),
        f"Save {name.removesuffix('.h5').removesuffix('.hdf5') + '.keras'!r}, or only "
        "the weights with save_weights('name.weights.h5')",
    )
