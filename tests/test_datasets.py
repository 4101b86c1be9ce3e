import shutil

import numpy as np
import pandas as pd
import pytest

from grandag import datasets
from grandag.graph import is_acyclic


def test_sachs():
    sachs = datasets.load_sachs()
    assert sachs.data.shape == (853, 11)
    assert sachs.names == ("Raf", "Mek", "Plcg", "PIP2", "PIP3", "Erk", "Akt", "PKA", "PKC", "P38", "Jnk")
    assert sachs.adjacency.sum() == 17
    assert is_acyclic(sachs.adjacency)
    assert sachs.adjacency[sachs.names.index("PKA"), sachs.names.index("Jnk")]
    assert "Science 308" in sachs.provenance


def test_sachs_with_interventions():
    sachs, observational = datasets.load_sachs(interventions=True), datasets.load_sachs()
    assert sachs.data.shape == (5846, 11)
    np.testing.assert_array_equal(sachs.data[:853], observational.data)
    counts = pd.Series(sachs.interventions).value_counts()
    assert counts.to_dict() == {"": 1755, "Akt": 911, "PKC": 723, "PIP2": 810, "Mek": 799, "PIP3": 848}
    assert observational.interventions is None
    assert "Mek: U0126 (4998)" in sachs.provenance and "U0126" not in observational.provenance


def best_split(rows, first, last):
    """Where two Gaussians with diagonal covariances explain a block of rows best, and the gain over one, in nats."""
    block, ends = rows[first:last], np.arange(100, last - first - 100)

    def costs(block):
        counts = np.arange(1, len(block) + 1)[:, None]
        variances = np.cumsum(block**2, axis=0) / counts - (np.cumsum(block, axis=0) / counts) ** 2
        return (counts / 2 * np.log(np.maximum(variances, 1e-4))).sum(axis=1)

    if not len(ends):
        return -np.inf, first
    gains = costs(block)[-1] - costs(block)[ends - 1] - costs(block[::-1])[last - first - ends - 1]
    return float(gains.max()), first + int(ends[gains.argmax()])


def test_regimes_of_sachs_end_where_the_rows_change():
    """The six largest changes of the logarithms of the rows, found one after the other, are where blocks end."""
    rows, blocks = np.log(datasets.load_sachs(interventions=True).data.to_numpy()), [(0, 5846)]
    for _ in range(6):
        (_, end), (first, last) = max((best_split(rows, *block), block) for block in blocks)
        blocks.remove((first, last))
        blocks += [(first, end), (end, last)]
    found = sorted(last for _, last in blocks)[:-1]
    assert np.abs(np.array(found) - [853, 1755, 2666, 3389, 4199, 4998]).max() <= 10


@pytest.mark.filterwarnings("ignore:Reading:UserWarning")
def test_sachs_is_what_the_authors_used(authors):
    sachs = datasets.load_sachs()
    np.testing.assert_array_equal(sachs.data.to_numpy(), np.load(authors / "sachs" / "data1.npy"))
    np.testing.assert_array_equal(sachs.adjacency, np.load(authors / "sachs" / "DAG1.npy"))


def test_load_by_name():
    assert datasets.load("sachs").name == "sachs"
    with pytest.raises(ValueError, match="no bundled data set 'sach': choose from sachs"):
        datasets.load("sach")


def write_setting(folder, k=3):
    """A setting in the authors' layout, with the header that numpy wrote under Python 2."""
    folder.mkdir(parents=True)
    rows, truth = np.arange(20.0).reshape(10, 2), np.array([[0.0, 1.0], [0.0, 0.0]])
    np.save(folder / f"data{k}.npy", np.asfortranarray(rows))
    np.save(folder / f"DAG{k}.npy", truth)
    np.save(folder / f"CPDAG{k}.npy", truth + truth.T)
    header = (folder / f"data{k}.npy").read_bytes().replace(b"(10, 2), }  ", b"(10L, 2L), }")
    assert b"10L" in header
    (folder / f"data{k}.npy").write_bytes(header)
    return rows


@pytest.mark.parametrize("is_zip", [False, True])
@pytest.mark.parametrize("is_direct", [False, True])
def test_authors_layout(tmp_path, is_zip, is_direct):
    folder = tmp_path / "all" / "data_sf_p20_e80_n1000_GP"
    rows = write_setting(folder)
    if is_zip:
        shutil.make_archive(str(folder), "zip", folder.parent, folder.name)
        shutil.rmtree(folder)
    path = folder.with_suffix(".zip") if is_zip else folder
    dataset = datasets.load_authors(path if is_direct else folder.parent, "sf4-20", 3)
    np.testing.assert_array_equal(dataset.data, rows)
    assert dataset.names == ("X0", "X1")
    assert dataset.adjacency.tolist() == [[False, True], [False, False]]
    assert dataset.cpdag.tolist() == [[False, True], [True, False]]
    assert "data_sf_p20_e80_n1000_GP" in dataset.provenance


def test_authors_layout_errors(tmp_path):
    write_setting(tmp_path / "data_p10_e10_n1000_PNL_GP")
    assert datasets.load_authors(tmp_path, "pnl-gp-er1-10", 3).data.shape == (10, 2)
    assert datasets.list_authors(tmp_path, "pnl-gp-er1-10") == [3]
    with pytest.raises(ValueError, match=r"There is no data set 4 of 'pnl-gp-er1-10' in .*: it has 3"):
        datasets.load_authors(tmp_path, "pnl-gp-er1-10", 4)
    with pytest.raises(ValueError, match="holds no folder 'data_p10_e40_n1000_GP'"):
        datasets.load_authors(tmp_path, "er4-10", 3)
    with pytest.raises(FileNotFoundError, match="There is no folder or zip file"):
        datasets.load_authors(tmp_path / "nowhere", "er4-10", 3)


@pytest.mark.parametrize(
    ("name", "k", "shape", "n_edges", "has_cpdag"),
    [
        ("er1-10", 11, (1000, 10), 6, True),
        ("er1-20", 15, (1000, 20), 25, True),
        ("sf4-10", 12, (1000, 10), 20, True),
        ("pnl-gp-er1-10", 11, (1000, 10), 13, False),
        ("syntren", 4, (500, 20), 34, True),
        ("sachs", 1, (853, 11), 17, True),
    ],
)
def test_authors_files(authors, name, k, shape, n_edges, has_cpdag):
    dataset = datasets.load_authors(authors, name, k)
    assert dataset.data.shape == shape
    assert dataset.adjacency.sum() == n_edges
    assert is_acyclic(dataset.adjacency)
    assert (dataset.cpdag is not None) == has_cpdag
    if has_cpdag:
        assert (dataset.cpdag | dataset.cpdag.T).sum() == 2 * n_edges
    if name == "sachs":
        assert dataset.names == datasets.load_sachs().names
