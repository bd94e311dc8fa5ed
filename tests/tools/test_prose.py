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


MEASURED = "<!-- measured: x -->\n{} anew\n<!-- end: x -->"


@pytest.mark.parametrize("text", ["| {} |", "```sh\n{}\n```", "[a page]({})", MEASURED])
def test_what_may_be_long(tmp_path, text):
    text, long = text.format("a" * 100), "a" * 100
    assert not messages(tmp_path, text)
    assert messages(tmp_path, f"{text}\n{long}")


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
        found = messages(tmp_path, code, "src/x.py", paths)
        assert [x.split(" says ")[0] for x in found] == ["src/x.py:3", "src/x.py:4"]
    [message] = messages(tmp_path, "// whoever\n", "src/y.js", ["src/y.js"])
    assert message.startswith("src/y.js:1 says 'whoever'")


@pytest.mark.parametrize("folder", ["saved_models", ".cache"])
def test_folders_that_are_left_out(tmp_path, folder):
    assert not messages(tmp_path, "a" * 100, f"{folder}/README.md")


def test_the_exit_code(capsys, tmp_path):
    assert prose.main(tmp_path) == 0 and not capsys.readouterr().out
    (tmp_path / "page.md").write_text("a" * 100)
    assert prose.main(tmp_path) == 1 and "page.md:1" in capsys.readouterr().out
