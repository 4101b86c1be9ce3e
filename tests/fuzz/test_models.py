"""Whatever a model file holds: it loads and works, or one error of ours says that it does not."""

import tracemalloc
import warnings

import numpy as np
import pytest

import grandag
from grandag import incoming
from tests.fuzz import models

METHODS = ["grandag", "cam", "dag-gnn", "gsf", "ges"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return models.originals(tmp_path_factory.mktemp("models"))


def outcome(path, content) -> str:
    """Loaded and used, or refused; anything else is raised."""
    path.write_bytes(content)
    try:
        model = grandag.load(path)
    except ValueError as error:
        assert "is not a model that " in str(error)
        assert len(str(error)) < 400 + len(str(path))
        assert "\n" not in str(error)
        return "refused"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        assert np.isfinite(models.use(model))
    return "used"


def outcomes(tmp_path, cases) -> dict[str, int]:
    counts, faults = {"used": 0, "refused": 0}, []
    for name, make in cases:
        try:
            counts[outcome(tmp_path / "model.npz", make())] += 1
        except Exception as error:
            faults.append(f"{name}: {type(error).__name__}: {error}")
    assert faults == []
    return counts


def some(cases, n=60):
    """A part of the cases, always the same."""
    cases = list(cases)
    return [cases[k] for k in np.random.default_rng(19).permutation(len(cases))[:n]]


@pytest.mark.parametrize("method", METHODS)
def test_as_it_was_saved(files, tmp_path, method):
    assert outcome(tmp_path / "model.npz", models.packed(models.unpacked(files[method]))) == "used"


@pytest.mark.parametrize("method", METHODS)
def test_broken_arrays_and_entries(files, tmp_path, method):
    arrays = outcomes(tmp_path, some(models.broken_arrays(files[method])))
    assert arrays["refused"] > arrays["used"]
    entries = outcomes(tmp_path, some(models.broken_entries(files[method])))
    assert entries["refused"] > entries["used"]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_broken_array_and_entry(files, tmp_path, method):
    outcomes(tmp_path, [*models.broken_arrays(files[method]), *models.broken_entries(files[method])])


@pytest.mark.parametrize("method", METHODS)
def test_flipped_bits(files, tmp_path, method):
    """Checksums of the archive see most of them; headers have bits that nobody reads."""
    counts = outcomes(tmp_path, models.flipped(files[method], np.random.default_rng(19), 60))
    assert counts["refused"] > 2 * counts["used"]


def test_hostile_archives_are_refused_before_they_are_read(files, tmp_path, monkeypatch):
    monkeypatch.setattr(incoming, "_MOST_BYTES", models.BOMB // 2)
    for name, content in models.hostile_archives(files["ges"]):
        tracemalloc.start()
        assert outcome(tmp_path / "model.npz", content) == "refused", name
        assert tracemalloc.get_traced_memory()[1] < models.BOMB // 2, name
        tracemalloc.stop()


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no regular file"):
        grandag.load(tmp_path)
    with pytest.raises(ValueError, match="no regular file"):
        grandag.load("/dev/zero")
