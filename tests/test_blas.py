"""One thread of linear algebra, for as long as anybody needs it."""

import threading

import pytest
from threadpoolctl import threadpool_info

from grandag.blas import one_blas_thread


def numbers_of_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def _several():
    """Nothing is seen of a limit where there is one thread anyway; and nobody may leave one behind."""
    before = numbers_of_threads()
    if before == {1}:
        pytest.skip("linear algebra has one thread here")
    yield
    assert numbers_of_threads() == before


def test_one_thread_within():
    with one_blas_thread():
        with one_blas_thread():
            assert numbers_of_threads() == {1}
        assert numbers_of_threads() == {1}


def test_an_error_leaves_nothing_behind():
    with pytest.raises(ValueError, match="in the middle"), one_blas_thread():
        raise ValueError("in the middle")


@pytest.mark.parametrize("first_leaves_first", [True, False])
def test_two_threads_that_overlap(first_leaves_first):
    """What the other still needs is not taken back, whoever of the two came first."""
    is_in, may_leave, found = threading.Event(), threading.Event(), []

    def other():
        with one_blas_thread():
            is_in.set()
            assert may_leave.wait(60)
            found.append(numbers_of_threads())

    thread = threading.Thread(target=other)
    if first_leaves_first:
        with one_blas_thread():
            thread.start()
            assert is_in.wait(60)
        may_leave.set()
        thread.join()
    else:
        thread.start()
        assert is_in.wait(60)
        with one_blas_thread():
            may_leave.set()
            thread.join()
            found.append(numbers_of_threads())
    assert all(numbers == {1} for numbers in found)
    assert found
