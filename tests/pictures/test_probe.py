"""The pictures of a probe show what the translator returns."""

import keras_seqattn as ks
from keras_seqattn.pictures.probe import Probe
from tests.translator import tiny


def test_shortlist():
    source, target = tiny.texts()
    model = tiny.model(source, target)
    pairs = ks.data.encode(tiny.PAIRS, source, target)
    options = {"search": ks.Greedy(), "max_length": 7}
    shortlist = ks.decoding.Shortlist.learn(model, pairs, per_token=1, common=0, size=5)
    short = ks.Translator(model, source, target, shortlist=shortlist, **options)
    whole = ks.Translator(model, source, target, **options)
    expected = short.translate(tiny.SOURCES).texts
    assert expected != whole.translate(tiny.SOURCES).texts
    pictures = Probe(short, ks.Greedy(), tiny.SOURCES).pictures()
    assert [p["hypotheses"][0]["text"] for p in pictures] == expected
