"""Translates a test set, and compares with its references."""

import json
import time

from keras_seqattn.cli import judged, use_options

HELP = "translate a test set and measure how good that is"
EXAMPLES = """\
examples:
  seqattn evaluate runs/dates                        the test set of its own task
  seqattn evaluate runs/de --source test.en --target test.de --metric bleu chrf
  seqattn evaluate runs/g2p --metric wer per --beam 10 --output test.hyp
"""


def configure(parser):
    """Adds its options."""
    use_options.add_translator(parser)
    parser.add_argument(
        "--metric",
        nargs="+",
        metavar="NAME",
        help="bleu, tokenized_bleu, chrf, exact_match, wer, per "
        "(default: those of the run)",
    )
    parser.add_argument("--output", metavar="FILE", help="keep the translations")
    parser.add_argument("--json", action="store_true", help="the numbers as JSON")
    judged.add_options(parser)
    use_options.add_search(parser)


def run(parsed):
    """Measures."""
    from keras_seqattn.cli import translators
    from keras_seqattn.cli.progress import bar, note
    from keras_seqattn.training.text_metric import text_metric

    pairs, references, settings = judged.pairs_of(parsed)
    names = parsed.metric or settings.metric or _of_run(parsed.run) or ["bleu"]
    metrics = [text_metric(name) for name in names]
    translator = translators.load(
        parsed.run, parsed.beam, length_penalty=parsed.length_penalty
    )
    start = time.monotonic()
    with bar("translating", len(pairs)) as update:
        texts = translator.translate(pairs.source, parsed.batch_size, update).texts
    seconds = time.monotonic() - start
    if parsed.output:
        with open(parsed.output, "w", encoding="utf-8") as file:
            file.writelines(f"{text}\n" for text in texts)
    values = {metric.name: metric(texts, references) for metric in metrics}
    if parsed.json:
        print(json.dumps({**values, "texts": len(texts), "seconds": round(seconds, 2)}))
        return
    for name, value in values.items():
        signature = getattr(value, "signature", "")
        print(f"{name}  {value:.2f}  {signature}".rstrip())
    note(f"{len(texts)} texts in {seconds:.1f} s, {translator.search}")


def _of_run(path):
    from keras_seqattn.cli.run_folder import run_of

    run = run_of(path)
    return run and run.content()["settings"]["metric"]
