"""Translate a test set and print metrics."""

import json
import time

from keras_seqattn.cli.evaluation_data import evaluation_data, in_rows_of_file
from keras_seqattn.cli.load_translator import load_translator
from keras_seqattn.cli.progress import bar, note
from keras_seqattn.cli.run_folder import find_run
from keras_seqattn.cli.text_files import check_output, write_lines
from keras_seqattn.data.corpora.references import pooled_references
from keras_seqattn.metrics.text_metric import text_metric


def run(options):
    """Translate, print the metrics, and write the translations to a file."""
    check_output(options.output)
    names = options.metric or _metrics_of_run(options.run) or ["bleu"]
    metrics = [text_metric(name) for name in names]
    for metric in metrics:
        metric.check()  # a missing package is an error before the work starts
    pairs, references = evaluation_data(options)
    translator = load_translator(
        options.run, options.beam, length_penalty=options.length_penalty
    )
    start = time.monotonic()
    with bar("translating", len(pairs)) as update:
        texts = translator.translate(pairs.source, options.batch_size, update).texts
    seconds = time.monotonic() - start
    any_place = pooled_references(pairs.source, references)
    values = {
        metric.name: metric(texts, references if metric.is_graded else any_place)
        for metric in metrics
    }
    if options.json:
        print(json.dumps({**values, "texts": len(texts), "seconds": round(seconds, 2)}))
    else:
        for name, value in values.items():
            signature = getattr(value, "signature", "")
            print(f"{name}  {value:.2f}  {signature}".rstrip())
        note(f"{len(texts)} texts in {seconds:.1f} s, {translator.search}")
    if options.output is not None:
        write_lines(options.output, in_rows_of_file(texts, pairs))


def _metrics_of_run(path):
    run = find_run(path)
    return run and run.settings().metric
