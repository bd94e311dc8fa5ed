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
    from keras_seqattn.cli import text_output, translators
    from keras_seqattn.cli.metric_choice import metrics
    from keras_seqattn.cli.progress import bar
    from keras_seqattn.data.corpora.references import pooled_references

    text_output.check(parsed.output)
    used = metrics(parsed.metric or _of_run(parsed.run) or ["bleu"])
    pairs, references, _ = judged.pairs_of(parsed)
    translator = translators.load(
        parsed.run, parsed.beam, length_penalty=parsed.length_penalty
    )
    start = time.monotonic()
    with bar("translating", len(pairs)) as update:
        texts = translator.translate(pairs.source, parsed.batch_size, update).texts
    seconds = time.monotonic() - start
    any_place = pooled_references(pairs.source, references)
    values = {
        metric.name: metric(texts, references if metric.is_graded else any_place)
        for metric in used
    }
    if parsed.json:
        print(json.dumps({**values, "texts": len(texts), "seconds": round(seconds, 2)}))
    else:
        _show(values, f"{len(texts)} texts in {seconds:.1f} s, {translator.search}")
    if parsed.output is not None:
        text_output.write(parsed.output, texts)


def _show(values, how):
    from keras_seqattn.cli.progress import note

    for name, value in values.items():
        signature = getattr(value, "signature", "")
        print(f"{name}  {value:.2f}  {signature}".rstrip())
    note(how)


def _of_run(path):
    from keras_seqattn.cli.run_folder import run_of

    run = run_of(path)
    return run and run.content()["settings"]["metric"]
