"""Benchmarks that need a corpus or a trained model."""

from benchmarks.catalogue.training import HALF_PRECISION, OURS, RNN, SAME_MODEL
from benchmarks.registry import Benchmark, Entry, Tolerance
from benchmarks.sizes import REFERENCE

DATA, RUN = "KERAS_SEQATTN_DATA", "KERAS_SEQATTN_RUN"
ONE_POINT = {"Multi30k": {}}
# Between two words or two hypotheses of equal score, rounding decides.
TRANSLATIONS = (Tolerance("texts", 0.002), Tolerance("scores", 1e-3))
EXPORTED = "benchmarks.exported"
TRAIN = "benchmarks.multi30k:with_ours"
WAYS = {
    OURS: Entry(TRAIN),
    "ours, bfloat16": Entry(
        TRAIN, {"policy": "mixed_bfloat16"}, tolerances=HALF_PRECISION
    ),
    "ours, XLA": Entry(TRAIN, {"jit_compile": True}, smoke=False),
}


def _exported(name, what, contenders):
    needs = (DATA, RUN)
    return Benchmark(
        name, what, contenders, ONE_POINT, TRANSLATIONS, seconds=240, needs=needs
    )


ALL = [
    Benchmark(
        "multi30k_training",
        "Training steps on Multi30k, English to German, joint BPE of 8000.",
        {
            **WAYS,
            RNN: Entry("benchmarks.multi30k:with_keras"),
        },
        ONE_POINT,
        SAME_MODEL,
        needs=(DATA,),
    ),
    Benchmark(
        "multi30k_loop",
        "Training steps on Multi30k, the same batches, embedding 128, units 256.",
        {
            **WAYS,
            "plain tf.scan": Entry("benchmarks.multi30k:with_scan"),
        },
        {"Multi30k": {"size": REFERENCE._replace(embedding=128, units=256)}},
        SAME_MODEL,
        needs=(DATA,),
    ),
    Benchmark(
        "input_wait",
        "32 training steps on Multi30k, batches made during the training or before it.",
        {
            "batches made during training": Entry("benchmarks.input_wait:pipeline"),
            "the same batches from memory": Entry("benchmarks.input_wait:memory"),
        },
        ONE_POINT,
        (Tolerance("loss", 1e-5),),
        steps=32,
        repetitions=5,
        needs=(DATA,),
    ),
    Benchmark(
        "attention_logging",
        "Some batches of Multi30k, then the pictures of eight sentences.",
        {
            "with the callback": Entry(
                "benchmarks.attention_logging:epoch", {"shown": True}
            ),
            "without it": Entry("benchmarks.attention_logging:epoch", {"shown": False}),
        },
        ONE_POINT,
        (Tolerance("loss", 1e-6), Tolerance("weight", 1e-4)),
        needs=(DATA,),
    ),
    _exported(
        "exported_greedy",
        "1000 sentences of Multi30k, strings to strings, greedy.",
        {
            OURS: Entry(f"{EXPORTED}:ours"),
            "plain while_loop": Entry(f"{EXPORTED}:plain"),
            "plain, with scores": Entry(f"{EXPORTED}:plain", {"scored": True}),
            "PyTorch eager": Entry(f"{EXPORTED}:torch"),
        },
    ),
    _exported(
        "exported_beam",
        "1000 sentences of Multi30k, strings to strings, beam of 5.",
        {
            OURS: Entry(f"{EXPORTED}:ours", {"width": 5}),
            "plain while_loop": Entry(f"{EXPORTED}:plain", {"width": 5}),
            "PyTorch eager": Entry(f"{EXPORTED}:torch", {"width": 5}),
        },
    ),
]
