"""A SavedModel that holds processors runs where only TensorFlow and TF Text are."""

import json
import subprocess
import sys

import pytest
import tensorflow as tf

from tests.text.learned import ALL, learned

KINDS = ["Words", "WordPiece", "unigram", "bpe"]
NFKC = {"normalization": "nfkc", "lowercase": True}
CODE = """
import json, sys
import tensorflow as tf, tensorflow_text
module = tf.saved_model.load(sys.argv[1])
result = {}
for kind in json.loads(sys.argv[2]):
    outputs = getattr(module, kind)(tf.constant(json.loads(sys.argv[3])))
    back = outputs.pop("back").numpy().tolist()
    rows = {name: x.to_list() for name, x in outputs.items()}
    rows["pieces"] = [[p.decode() for p in row] for row in rows["pieces"]]
    result[kind] = {**rows, "back": [text.decode() for text in back]}
assert "keras_seqattn" not in sys.modules
print(json.dumps(result))
"""


def traced(text):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def run(texts):
        tokens = text.encode_with_offsets(texts)
        return {**tokens._asdict(), "back": text.decode(tokens.ids)}

    return run


@pytest.mark.system
def test_runs_without_the_library(tmp_path):
    module = tf.Module()
    module.processors = {kind: learned(kind) for kind in KINDS}  # two SentencePieces
    module.processors["Words"] = learned("Words", **NFKC)
    for kind, text in module.processors.items():
        setattr(module, kind, traced(text))
    tf.saved_model.save(module, str(tmp_path))
    arguments = [str(tmp_path), json.dumps(KINDS), json.dumps(ALL)]
    done = subprocess.run(
        [sys.executable, "-c", CODE, *arguments], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    for kind, text in module.processors.items():
        tokens = text.encode_with_offsets(ALL)
        assert result[kind]["ids"] == tokens.ids.to_list()
        assert result[kind]["starts"] == tokens.starts.to_list()
        assert result[kind]["ends"] == tokens.ends.to_list()
        back = [x.decode() for x in text.decode(tokens.ids).numpy()]
        assert result[kind]["back"] == back
