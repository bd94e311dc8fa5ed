"""Functions of the viewer and the tab in Node, against NumPy and the library."""

import base64
import importlib.util
import itertools
import json
import re
import subprocess

import numpy as np
import pytest

from keras_seqattn.metrics.confidence import alignment_confidence
from keras_seqattn.text.terminal_text import clusters
from keras_seqattn.translator import page
from keras_seqattn.translator.plot import COLOURS
from tests.tensorboard_plugin.browser import missing
from tests.tensorboard_plugin.pictures import as_json, german
from tests.tensorboard_plugin.stage import STATIC


def run(module, body, argument=None):
    """Run the body of a JavaScript function of `m`, the module, and `x`, from JSON."""
    if importlib.util.find_spec("playwright") is None:
        missing(
            "The functions of the viewer were not tried alone. Expected Playwright, "
            "which brings Node, received none. Run: pip install playwright"
        )
    from playwright._impl._driver import compute_driver_executable

    node, _ = compute_driver_executable()
    code = (
        f"import * as m from {json.dumps((STATIC / module).as_uri())};\n"
        "import {readFileSync} from 'node:fs';\n"
        "const x = JSON.parse(readFileSync(0, 'utf8'));\n"
        f"const answer = ((m, x) => {{{body}}})(m, x);\n"
        "console.log(JSON.stringify(answer ?? null));"
    )
    how = {"input": json.dumps(argument), "capture_output": True, "text": True}
    done = subprocess.run([node, "--input-type=module", "-e", code], **how)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_float16_and_measures_of_them():
    bits = np.arange(65536, dtype="<u2")
    text = base64.b64encode(bits.tobytes()).decode()
    found = run("picture.js", "return Array.from(m.decodeHalf(x), String)", text)
    expected = bits.view("<f2").astype("float64")
    assert np.array_equal(np.array(found, float), expected, equal_nan=True)
    weights = np.random.default_rng(0).dirichlet(np.full(7, 0.3), 5)
    weights[2] = np.eye(7)[3]
    code = """const grid = {...x, values: Float32Array.from(x.values)};
      return [m.meanOf(m.rowEntropies(grid)), m.coverageOf(grid)];"""
    grid = {"rows": [0] * 5, "columns": [0] * 7, "values": weights.ravel().tolist()}
    entropy, coverage = run("measures.js", code, grid)
    assert entropy == pytest.approx(alignment_confidence(weights).entropy, abs=1e-6)
    assert np.allclose(coverage, weights.sum(axis=0), atol=1e-6)
    one = {"rows": [0], "columns": [0], "values": [1.0]}
    assert run("measures.js", code, one)[0] == 0


WORDS = {
    "subwords": ("Ei H.", [(0, 2), (3, 4), (4, 5), (5, 5)], [0, 1, 1, -1]),
    "blanks in the pieces": ("Ein Hund", [(0, 3), (3, 6), (6, 8)], [0, 1, 1]),
    "characters": ("a bc", [(0, 1), (1, 2), (2, 3), (3, 4)], [0, 1, 1, 1]),
    "no end token": ("a b", [(0, 1), (2, 3)], [0, 1]),
    "nothing but the end": ("", [(0, 0)], [-1]),
    "nothing": ("", [], []),
    "no blanks, so pieces": ("你好吗", [(0, 1), (1, 2), (2, 3), (3, 3)], [0, 1, 2, -1]),
    "one word": ("Hund", [(0, 4), (4, 4)], [0, -1]),
    "wide blank": ("你\u3000好", [(0, 1), (2, 3)], [0, 1]),
    "emoji are one code point": ("👩 a", [(0, 1), (2, 3)], [0, 1]),
    "bytes share a character": ("é b", [(0, 1), (0, 1), (2, 3)], [0, 0, 1]),
    "nonsense": ("a b", [(7, 9), (-1, 1), (2, 1)], [-1, 0, 1]),
    "blank": ("a b", [(0, 1), (1, 2), (2, 3)], [0, 1, 1]),
    "start": ("a b", [(0, 0), (0, 1), (2, 3)], [-1, 0, 1]),
    "start of a word": ("ab", [(0, 0), (0, 1), (1, 2)], [-1, 0, 1]),
}
PIECE = {(0, 0): "<s>"}


def test_words():
    pictures = [
        {"source": {"text": text, "tokens": [[PIECE.get(x, "x"), *x] for x in spans]}}
        for text, spans, _ in WORDS.values()
    ]
    code = """return x.map((picture) =>
      m.decodePicture({...picture, hypotheses: []}).source.words)"""
    found = dict(zip(WORDS, run("picture.js", code, pictures), strict=True))
    assert found == {name: words for name, (_, _, words) in WORDS.items()}
    blank = "".join(chr(c) for c in range(0x3100) if chr(c).isspace())
    text = "".join(f"{c}x" for c in blank) + "\ufeff\u200b\u180ey"
    tokens = [["x", i, i + 1] for i in range(len(text))]
    picture = {"source": {"text": text, "tokens": tokens}, "hypotheses": []}
    chunks = run("picture.js", "return m.decodePicture(x).source.chunks", picture)
    blanks = np.cumsum([c.isspace() for c in text])  # each begins a word
    assert chunks == (blanks - 1).tolist()
    assert max(chunks) + 1 == len(text.split())


def test_gold_links_are_of_words():
    code = """
      const picture = m.decodePicture(x);
      return ["word", "subword"].map((unit) => m.goldCells(picture.gold,
        m.gridOf(picture.hypotheses[2], {unit, head: "mean"})));
    """
    words, tokens = run("picture.js", code, as_json(german()))
    assert sorted(words["S"]) == [[0, 0], [1, 4], [2, 1], [3, 2], [4, 5], [5, 6]]
    assert sorted(words["P"]) == [[1, 3], [6, 6]]
    expected = [[row, column] for row in (4, 5) for column in (1, 2, 3)]
    assert sorted(cell for cell in tokens["S"] if cell[0] in (4, 5)) == expected


def test_labels_are_those_of_the_terminal():
    tokens = ["▁un", "a b", "</s>", "<unk>", "\u0301", "a\u0301", "\t\n\x7f", "\u3000"]
    tokens += ["\u202ea\u2066", "\ufeff", "é", "日本", "\U000e0041", "\x9b", "\ue000"]
    tokens += ["", "\u2028"]
    found = run("symbols.js", "return x.map(m.tokenLabel)", tokens)
    assert found == ["".join(clusters(token)) or "◌" for token in tokens]


FAMILY = "👩\u200d👩\u200d👧"


@pytest.mark.parametrize(
    "code, texts, expected",
    [
        ("m.visible('a\\ud800b')", None, "a\\ud800b"),  # half a character
        # A name of an object is a token like others.
        ("x.map(m.tokenLabel)", names := ["__proto__", "constructor"], names),
        ("m.shortened(x, 3)", FAMILY * 4, FAMILY * 3 + "…"),  # between characters
        ("m.shortened(x, 3)", FAMILY * 3, FAMILY * 3),
        ("m.shortened(x, 3)", "x" * 10_000, "xxx…"),
        ("x.map(m.directionOf)", ["abc שלום", "שלום abc"], ["ltr", "rtl"]),
        ("x.map(m.directionOf)", ["1. قطة", ""], ["rtl", "ltr"]),
    ],
)
def test_texts(code, texts, expected):
    assert run("symbols.js", f"return {code}", texts) == expected


# Machado, Oliveira, Fernandes 2009: linear RGB without red or green cones.
BLIND = {
    "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
}


@pytest.fixture(scope="module")
def scales():
    """`scales[theme, signed]`: the colours of 21 values, and the ink on them."""
    code = """
      return x.map(([theme, signed]) => {
        const scale = m.scaleOf(theme, signed);
        const values = m.legendValues(scale, 20);
        return [values.map(scale.rgb), values.map(scale.ink), scale.rgb(NaN)];
      });
    """
    keys = list(itertools.product(("light", "dark"), (False, True)))
    return dict(zip(keys, run("scale.js", code, keys), strict=True))


def linear(rgb):
    part = np.asarray(rgb, "float64") / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def luminance(rgb):
    return linear(rgb) @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("blind", [None, *BLIND])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_order_is_seen_without_colour_vision(scales, theme, blind):
    matrix = np.array(BLIND[blind]) if blind else np.eye(3)

    def lightness(key):
        seen = np.clip(linear(scales[key][0]) @ matrix.T, 0, 1)
        return np.cbrt(seen @ [0.2126, 0.7152, 0.0722])

    steps = np.diff(lightness((theme, False))) * (-1 if theme == "light" else 1)
    assert steps.min() > 0.01 and steps.max() < 0.07
    signed = lightness((theme, True)) * (-1 if theme == "light" else 1)
    assert (np.diff(signed[:11]) < 0).all() and (np.diff(signed[10:]) > 0).all()


@pytest.mark.parametrize("blind", BLIND)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_more_and_less_are_two_colours_for_everybody(scales, theme, blind):
    seen = linear(scales[theme, True][0]) @ np.array(BLIND[blind]).T
    blue = seen[:, 2] - seen[:, :2].mean(axis=1)
    assert blue[20] > 0.1 > 0 > blue[0]


def test_text_on_colours_can_be_read(scales):
    for colours, inks, grey in scales.values():
        for colour, ink in zip(colours, inks, strict=True):
            low, high = sorted(map(luminance, (colour, list(bytes.fromhex(ink[1:])))))
            assert (high + 0.05) / (low + 0.05) > 4.5  # WCAG 2, AA
        assert np.ptp(grey) < 10 and grey not in colours  # of NaN


def test_scale_is_that_of_the_figure_and_numbers_are_as_they_are_read():
    code = "return m.legendValues({}, 8).map(m.scaleOf('light').css)"
    assert run("scale.js", code) == COLOURS
    code = "return x.map((text) => m.numberText(Number(text), 4))"
    said = run("dom.js", code, ["0.12345", "-0.5", "NaN", "Infinity", "-Infinity"])
    assert said == ["0.1235", "−0.5000", "NaN", "∞", "−∞"]
    code = "return [m.numberText(null), m.numberText(undefined), m.numberText(1)]"
    assert run("dom.js", code) == ["–", "–", "1.00"]


def test_options_that_make_no_sense_are_left_out_and_keys_move():
    wrong = {"unit": "byte", "hypothesis": -1, "head": 1.5, "view": None, "gold": 1}
    wrong |= {"otherHypothesis": 0.5}
    wrong |= {"constructor": "x", "theme": "dark"}
    code = "return m.withChanges(m.DEFAULTS, x)"
    assert run("options.js", code, wrong) == run("options.js", "return m.DEFAULTS")
    right = {"unit": "word", "hypothesis": 2, "head": 1, "view": "heat", "gold": False}
    right |= {"otherHypothesis": 1}
    assert run("options.js", code, right) == right
    code = """
      const grid = {rows: [1, 2], columns: [1, 2, 3]};
      let at = m.NOWHERE;
      return x.map((key) => (at = m.movedBy(key, at, grid) ?? at, [at.row, at.column]));
    """
    keys = "a ArrowDown ArrowDown End ArrowRight PageUp Home Escape".split()
    nowhere, places = [[None, None]], [[0, 0], [1, 0], [1, 2], [1, 2], [0, 2], [0, 0]]
    assert run("crosshair.js", code, keys) == nowhere + places + nowhere
    empty = "return m.movedBy('ArrowUp', m.NOWHERE, {rows: [], columns: []})"
    assert run("crosshair.js", empty) is None


def test_table_for_a_spreadsheet():
    tokens = ['"a,b', "=1+1", "-", "-2", "+x", "@a", "\t=", "plain"]
    code = """
      const labels = x.map((text) => ({text}));
      const values = Float32Array.of(0.1, NaN, Infinity, -Infinity, 1, 0, 0.5, 2e-7);
      return m.tableOf({rows: labels.slice(0, 1), columns: labels, values}, "=title");
    """
    assert run("files.js", code, tokens) == (
        "'=title,\"\"\"a,b\",'=1+1,-,-2,'+x,'@a,'\t=,plain\r\n"
        '"""a,b",0.1,NaN,Infinity,-Infinity,1,0,0.5,2e-7\r\n'
    )


FILES = sorted(STATIC.glob("*.js"))
BAR = 130_000  # bytes, with comments and indentation


def test_files_are_small_and_stand_in_one():
    sizes = {file.name: file.stat().st_size for file in STATIC.iterdir()}
    assert sum(sizes.values()) < BAR
    assert max(sizes.values()) < BAR / 12
    text = page.modules("page.js")
    assert not re.search(r"^(import|export)\b", text, re.MULTILINE)
    assert not re.search(r"^(/\*|//| )", text, re.MULTILINE)
    assert text.index("function createViewer") > text.index("function createViews")
    assert len(text) < 64_000  # it is in every cell of a notebook


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_module_is_written_as_the_page_needs_it(file):
    text = file.read_text()
    exports = re.findall(r"^export (\w+)", text, re.MULTILINE)
    assert set(exports) <= {"function", "async", "const", "class"}
    # no string spans lines, so that comments and indentation can go
    assert all(line.count("`") % 2 == 0 for line in text.splitlines())
    assert max(map(len, text.splitlines())) <= 88
    assert text.count("\n") < 200
    assert not re.search("innerHTML|outerHTML|insertAdjacent|eval|document.write", text)
    links = set(re.findall(r"\w+://[\w./]*", text))
    assert links <= {"http://www.w3.org/2000/svg"}  # its name, not an address
