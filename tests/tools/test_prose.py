"""`make check` finds long lines and the words that plain English does without."""

import pytest

from tools import prose


def messages(root, text, name="page.md", paths=()):
    path = root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return list(prose.problems(root, paths))


def test_the_texts_of_the_project():
    assert not list(prose.problems(prose.ROOT))


def test_a_long_line_of_prose(tmp_path):
    assert not messages(tmp_path, "a" * 88)
    [message] = messages(tmp_path, "short\n" + "a" * 89)
    assert message.startswith("page.md:2 has 89 characters. Expected at most 88")


@pytest.mark.parametrize(
    "text",
    [
        f"| {'a' * 100} |",
        f"```sh\n{'a' * 100}\n```",
        f"[a page]({'a' * 100})",
        f"<!-- measured: x -->\n{'a' * 100} anew\n<!-- end: x -->",
    ],
    ids=["table", "code", "link", "measured"],
)
def test_what_may_be_long(tmp_path, text):
    assert not messages(tmp_path, text)
    assert messages(tmp_path, f"{text}\n{'a' * 100}")


def test_the_readme_is_short(tmp_path):
    words = "word\n" * 900
    assert not messages(tmp_path, words, "README.md")
    [message] = messages(tmp_path, words + "word", "README.md")
    assert message.startswith("README.md has 901 words")
    [message] = messages(tmp_path, f"```\n{'a' * 121}\n```", "README.md")
    assert message.startswith("README.md:2 has 121 characters")


def test_words_in_markdown(tmp_path):
    assert not messages(tmp_path, "`shall`, marshalled\n```\nshall\n```")
    [message] = messages(tmp_path, "\nYou Shall not pass.")
    assert message.startswith("page.md:2 says 'Shall'. Expected plain English. Write")


def test_words_in_code(tmp_path):
    code = 'shall = 1\n"""A text\nof like lengths"""\nx = 1  # read anew\n'
    assert not messages(tmp_path, code, "src/x.py")
    for paths in (["src"], ["src/x.py"]):
        places = [
            x.split(" says ")[0] for x in messages(tmp_path, code, "src/x.py", paths)
        ]
        assert places == ["src/x.py:3", "src/x.py:4"]
    [message] = messages(tmp_path, "// whoever\n", "src/y.js", ["src/y.js"])
    assert message.startswith("src/y.js:1 says 'whoever'")


def test_cards_and_hidden_folders_are_left_out(tmp_path):
    assert not messages(tmp_path, "a" * 100, "saved_models/README.md")
    assert not messages(tmp_path, "a" * 100, ".cache/README.md")


def test_the_exit_code(capsys, tmp_path):
    assert prose.main(tmp_path) == 0 and not capsys.readouterr().out
    (tmp_path / "page.md").write_text("a" * 100)
    assert prose.main(tmp_path) == 1 and "page.md:1" in capsys.readouterr().out
