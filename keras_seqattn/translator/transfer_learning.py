"""Start a translator from the weights of a trained one."""

from keras_seqattn.errors import abbreviated, four_part_error
from keras_seqattn.translator.kept_weights import keep_weights
from keras_seqattn.translator.resized_model import resized_model
from keras_seqattn.translator.translator import Translator


def transfer(trained, source_text=None, target_text=None, model=None, print_fn=print):
    """Return a new translator that starts with the weights of a trained one.

    The trained translator does not change. With a new vocabulary, the rows of tokens
    that both vocabularies have are kept, in the embeddings and in the output, and the
    other rows are drawn as in a new model. With another model, each layer is kept that
    has a layer of the same class and sizes at the same place.

    Args:
        trained: `Translator`.
        source_text: `TextProcessor` of the sources. None: that of the trained one.
        target_text: `TextProcessor` of the targets. None: that of the trained one.
        model: an untrained model for these texts, which is changed. None: a new one
            with the parts and sizes of the trained one, in the global dtype policy.
        print_fn: function that prints a line which says what was kept.

    Returns:
        `Translator`, with the default search.

    Example:
        >>> texts = [Words.learn(each) for each in (["a b c"], ["d e"], ["b c x"])]
        >>> sizes = [text.vocabulary_size for text in texts]
        >>> trained = Translator(recommended_model(*sizes[:2], units=4), *texts[:2])
        >>> translator = transfer(
        ...     trained, source_text=texts[2]
        ... )  # doctest: +NORMALIZE_WHITESPACE
        Kept 6 of 7 rows of the source embedding, 6 of 6 rows of the target embedding
        and 6 of 6 rows of the output (shared tokens).
        Kept 24 of 24 other weights.
    """
    if not isinstance(trained, Translator):
        raise four_part_error(
            "transfer got no translator to start from",
            "a Translator",
            abbreviated(trained),
            "Load it first: Translator.load(path)",
        )
    source_text = trained.source_text if source_text is None else source_text
    target_text = trained.target_text if target_text is None else target_text
    if model is None:
        model = resized_model(trained, (source_text, target_text))
    translator = Translator(model, source_text, target_text)
    print_fn(str(keep_weights(trained, translator)))
    return translator
