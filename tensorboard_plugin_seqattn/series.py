"""The answers of the routes, read from tensorboard's data provider."""

from typing import NamedTuple

from tensorboard import errors, plugin_util
from tensorboard.data import provider
from tensorboard.util import tb_logging

from tensorboard_plugin_seqattn.contents import read_content
from tensorboard_plugin_seqattn.fields import BrokenRecord, four_parts
from tensorboard_plugin_seqattn.records import read_picture, read_table
from tensorboard_plugin_seqattn.weights import WeightReader

PLUGIN_NAME = "seq_attention"
ALL_STEPS = 2**31 - 1  # 0 means all steps in the flag, but none in a provider

_logger = tb_logging.get_logger()


class _One(NamedTuple):
    run: str
    tag: str
    listed: provider.TensorTimeSeries


class SeriesReader:
    """Answers the requests of the tab.

    A broken record in a log becomes an `error` in the answer, and the rest of the
    answer is complete. Only a wrong request raises an error.

    Args:
        data_provider: `tensorboard.data.provider.DataProvider`.
        samples: largest number of steps to read of a series; 0 or None: all.
    """

    def __init__(self, data_provider, samples):
        self._provider = data_provider
        self._samples = samples or ALL_STEPS

    def runs(self, request):
        """Return the sentences and tables of all runs; no tensor is read."""
        listed = self._ask(self._provider.list_tensors, request)
        return {"runs": {run: _overview(listed[run]) for run in sorted(listed)}}

    def series(self, request):
        """Return one alignment of a sentence with all its steps."""
        one = self._one(request)
        try:
            kind, sentence = read_content(one.listed.plugin_content)
        except BrokenRecord as error:
            nothing = {"source": None, "reference": None, "gold": None}
            return {**nothing, "steps": [_last(one, error)]}
        _check_kind(one, kind, ("picture", "alignment"), "./table")
        weights, tokens = WeightReader(), sentence["source"]["tokens"]
        if sentence.get("columns") == "target":
            tokens = None
        steps = self._steps(
            request, one, lambda values: read_picture(values, tokens, weights)
        )
        return {**sentence, "steps": steps}

    def table(self, request):
        """Return the metrics of all sentences of a run, at all steps."""
        one = self._one(request)
        try:
            kind, _ = read_content(one.listed.plugin_content)
        except BrokenRecord as error:
            return {"steps": [_last(one, error)]}
        _check_kind(one, kind, ("table",), "./series")
        return {"steps": self._steps(request, one, read_table)}

    def _one(self, request):
        run, tag = request.argument("run"), request.argument("tag")
        listed = self._ask(self._provider.list_tensors, request, runs=[run], tags=[tag])
        if tag not in listed.get(run, {}):
            raise errors.NotFoundError(
                four_parts(
                    "no attention in the log",
                    "a run and a tag of ./runs",
                    f"run={run!r} and tag={tag!r}",
                    "Reload the page: the log may have changed",
                )
            )
        return _One(run, tag, listed[run][tag])

    def _steps(self, request, one, read):
        """Read the steps, the newest ones first, because the reader has a limit."""
        try:
            data = self._ask(
                self._provider.read_tensors,
                request,
                runs=[one.run],
                tags=[one.tag],
                downsample=self._samples,
            )
        except errors.PublicError:
            raise
        except Exception as error:  # a foreign type, or more than gRPC's 256 MB
            _logger.warning("Cannot read %r of %r", one.tag, one.run, exc_info=True)
            return [
                _last(
                    one,
                    four_parts(
                        "TensorBoard cannot read this series",
                        "byte strings, at most 256 MB together",
                        f"{type(error).__name__} (details in its terminal)",
                        "Keep fewer steps: tensorboard "
                        f"--samples_per_plugin={PLUGIN_NAME}=50",
                    ),
                )
            ]
        # A run that was restarted may hold a step twice: the later one counts.
        by_step = {
            datum.step: datum for datum in data.get(one.run, {}).get(one.tag, [])
        }
        return [_step(by_step[s], read) for s in sorted(by_step, reverse=True)][::-1]

    def _ask(self, question, request, runs=None, tags=None, **options):
        return question(
            plugin_util.context(request.environ),
            experiment_id=plugin_util.experiment_id(request.environ),
            plugin_name=PLUGIN_NAME,
            run_tag_filter=provider.RunTagFilter(runs=runs, tags=tags),
            **options,
        )


def _overview(series):
    sentences, tables, alignments = {}, [], []
    for tag in sorted(series):
        about = {"tag": tag, "last": series[tag].max_step}
        try:
            kind, sentence = read_content(series[tag].plugin_content)
        except BrokenRecord as error:
            sentences[tag] = {**about, "text": "", "error": str(error)}
            continue
        if kind == "table":
            tables.append(tag)
        elif kind == "alignment":
            alignments.append((about, sentence))
        else:
            sentences[tag] = {**about, "text": sentence["source"]["text"]}
    for about, sentence in alignments:
        text = sentence["source"]["text"]
        if sentence["of"] not in sentences:  # its sentence is not in the log
            sentences[about["tag"]] = {**about, "text": text}
            continue
        found = {key: sentence[key] for key in ("name", "rows", "columns")}
        sentences[sentence["of"]].setdefault("alignments", []).append(about | found)
    return {"sentences": list(sentences.values()), "tables": tables}


def _step(datum, read):
    moment = {"step": datum.step, "wall_time": datum.wall_time}
    try:
        if datum.numpy.dtype != object:  # before a list is made of it
            dtype = str(datum.numpy.dtype)
            raise BrokenRecord(
                "The record is not from keras_seqattn", "byte strings", dtype
            )
        return {**moment, **read(datum.numpy.tolist())}
    except BrokenRecord as error:
        return {**moment, "error": str(error)}


def _last(one, error):
    """Return the only step of a series that cannot be read at all, with its error."""
    moment = {"step": one.listed.max_step, "wall_time": one.listed.max_wall_time}
    return {**moment, "error": str(error)}


def _check_kind(one, kind, expected, other):
    if kind not in expected:
        raise errors.InvalidArgumentError(
            four_parts(
                "this route shows another kind of series",
                f"a {expected[0]}",
                f"the {kind} {one.tag!r}",
                f"Use {other} for it",
            )
        )
