"""Train a translator on pairs, with the settings that suit them."""

import os
import tempfile

import keras

from keras_seqattn.callbacks.validation import Validation
from keras_seqattn.checks import check_count
from keras_seqattn.data.pairs import as_pairs
from keras_seqattn.data.splitting import split_validation
from keras_seqattn.decoding.greedy import Greedy
from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.losses.fused_crossentropy import FusedCrossentropy
from keras_seqattn.metrics.text_metric import text_metric
from keras_seqattn.metrics.token_metrics import Perplexity, TokenAccuracy
from keras_seqattn.models.fit_arguments import check_callbacks
from keras_seqattn.models.frozen_layers import frozen
from keras_seqattn.optimizers.fused_adam import FusedAdam
from keras_seqattn.text.kinds import ProcessorChoice
from keras_seqattn.translator.default_model import recommended_model
from keras_seqattn.translator.kept_weights import keep_weights
from keras_seqattn.translator.recommendation import KEPT, kinds_of, recommended
from keras_seqattn.translator.resized_model import resized_model

OWNER = "Translator.fit_pairs"


def fit_pairs(
    translator_class, pairs, validation, epochs, verbose, callbacks, init_from, freeze
):
    """See `Translator.fit_pairs`."""
    if epochs is not None:
        check_count(OWNER, "epochs", epochs)
    check_callbacks(OWNER, callbacks)
    pairs = as_pairs(OWNER, pairs)
    trained = _trained(translator_class, init_from)
    if validation is None:
        pairs, validation = split_validation(OWNER, pairs)
    else:
        validation = as_pairs(OWNER, validation)
    texts = trained and (trained.source_text, trained.target_text)
    chosen = recommended(pairs, kinds_of(texts), epochs=epochs)
    text_metric(chosen.metric).check()  # its package may be missing
    if verbose:
        print(f"{len(pairs)} pairs for training, {len(validation)} for validation")
        names = [name for name in chosen.reasons if not (trained and name in KEPT)]
        print("\n".join(chosen.lines(names)))
    if trained:
        translator = translator_class(resized_model(trained, texts), *texts)
        keep_weights(trained, translator)
    else:
        translator = translator_class(*_model_and_texts(pairs, chosen))
    model = translator.model
    dataset = translator.dataset(pairs, batch_size=chosen.batch_size)
    model.compile(
        _optimizer(chosen, chosen.epochs * int(dataset.cardinality())),
        FusedCrossentropy(chosen.label_smoothing),
        weighted_metrics=[TokenAccuracy(), Perplexity()],
    )
    with tempfile.TemporaryDirectory() as folder, frozen(model, freeze):
        validate = Validation(
            translator.with_search(Greedy()),
            validation,
            metrics=[chosen.metric],
            folder=f"{folder}/best",
        )
        model.fit(
            dataset,
            epochs=chosen.epochs,
            shuffle=False,  # the dataset is already shuffled
            verbose=verbose,
            callbacks=[validate, *callbacks],
        )
    return translator


def _trained(translator_class, init_from):
    """Return the translator to start from, or None."""
    if isinstance(init_from, (str, os.PathLike)):
        return translator_class.load(init_from)
    if init_from is None or isinstance(init_from, translator_class):
        return init_from
    raise four_part_error(
        f"{OWNER} got an unusable init_from",
        "a Translator, the path of its folder, or None",
        abbreviated(init_from),
        "Pass e.g. init_from=Translator.load(path)",
    )


def _model_and_texts(pairs, chosen):
    texts = [
        ProcessorChoice.parse(OWNER, kind).learn(side)
        for kind, side in (
            (chosen.source_text, pairs.source),
            (chosen.target_text, pairs.target),
        )
    ]
    sizes = [text.vocabulary_size for text in texts]
    return recommended_model(*sizes, **chosen.model), *texts


def _optimizer(chosen, steps):
    rate = keras.optimizers.schedules.CosineDecay(
        0.0,
        decay_steps=max(1, steps - chosen.warmup),
        warmup_target=chosen.learning_rate,
        warmup_steps=chosen.warmup,
    )
    return FusedAdam(rate, global_clipnorm=1.0)
