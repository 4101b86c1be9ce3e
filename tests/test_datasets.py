import numpy as np
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


@pytest.mark.filterwarnings("ignore:Reading:UserWarning")
def test_sachs_is_what_the_authors_used(authors):
    sachs = datasets.load_sachs()
    np.testing.assert_array_equal(sachs.data.to_numpy(), np.load(authors / "sachs" / "data1.npy"))
    np.testing.assert_array_equal(sachs.adjacency, np.load(authors / "sachs" / "DAG1.npy"))


def test_load_by_name():
    assert datasets.load("sachs").name == "sachs"
    with pytest.raises(ValueError, match="no bundled data set 'sach': choose from sachs"):
        datasets.load("sach")
