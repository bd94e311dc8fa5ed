"""Which folders are served, and under which name."""

import pytest

from keras_seqattn.serving import versions


@pytest.fixture
def folder(tmp_path):
    """With versions 2 and 10, and things that are none."""
    for name in ("2", "10"):
        (tmp_path / "dates" / name).mkdir(parents=True)
        (tmp_path / "dates" / name / "saved_model.pb").touch()
    for name in ("11", "0", "old", ".10-new"):
        (tmp_path / "dates" / name).mkdir()
    (tmp_path / "dates" / "0" / "saved_model.pb").touch()
    (tmp_path / "dates" / "12").touch()
    return tmp_path / "dates"


@pytest.mark.parametrize(
    "wanted, numbers", [(None, [10]), ("all", [2, 10]), ("2", [2]), ("2, 10", [2, 10])]
)
def test_version_folders(folder, wanted, numbers):
    expected = {number: folder / str(number) for number in numbers}
    assert versions.find_versions(str(folder), wanted) == expected
    assert versions.model_name(folder) == "dates"


def test_one_version(folder, monkeypatch):
    assert versions.find_versions(folder / "10") == {10: folder / "10"}
    assert versions.model_name(folder / "10") == "dates"
    monkeypatch.chdir(folder / "10")
    assert versions.model_name(".") == "dates"
    assert list(versions.find_versions(".")) == [10]


def test_no_versions(folder):
    model = (folder / "10").rename(folder.parent / "served")
    for wanted in (None, "all", "1"):
        assert versions.find_versions(model, wanted) == {1: model}
    assert versions.model_name(model) == "served"


@pytest.mark.parametrize("wanted", ["3", "2,3", "latest", "", "-2"])
def test_a_version_that_is_not_there(folder, wanted):
    with pytest.raises(ValueError) as caught:
        versions.find_versions(folder, wanted)
    assert str(caught.value) == (
        "serve did not find all of these versions. Expected all, or some of 2, 10, "
        f"received {wanted!r}. Write e.g. --versions 10, or leave it out for the "
        "highest."
    )


@pytest.mark.parametrize("name, why", [("old", "without saved_model.pb"), ("no", "no")])
def test_no_model(folder, name, why):
    path, why = folder / name, "no folder" if why == "no" else why
    with pytest.raises(ValueError) as caught:
        versions.find_versions(path)
    assert str(caught.value) == (
        "serve found no exported model. Expected a folder of seqattn export, or a "
        f"folder with version folders 1, 2, ..., received {str(path)!r}, "
        f"{why}. Check the path, or run seqattn export."
    )
