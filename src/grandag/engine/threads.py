"""Threads that run one compiled loop together and meet at barriers.

The loop over iterations is one compiled call that every thread enters with its own number; the threads share the
networks among themselves and wait for each other between the phases of an iteration. That costs about a microsecond,
needs no threading library, leaves no settings behind, and gives the same bits for any number of threads, since every
number is computed by one thread in one order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from grandag.engine.compiled import compiled, inlined, let_others_compile

__all__ = ["new_barrier", "run_together", "share", "wait"]

_give_way = types.ExternalFunction("SwitchToThread" if sys.platform == "win32" else "sched_yield", types.int32())
_SPINS_BEFORE_GIVING_WAY = 2000
_ARRIVED, _MEETINGS, _CALLED_OFF = 0, 1, 2


def run_together(
    function: Callable[..., Any], own: Sequence[Any], *shared: Any, barrier: np.ndarray | None = None
) -> Any:
    """Call `function(thread, n_threads, own[thread], *shared)` in all threads at once; the result of thread 0.

    If this thread does not get as far as its own call, by Ctrl-C or because no thread can be started, the others are
    told so through the `barrier` at which they wait for it, and find no lock of numba's that it left closed.
    """
    n_threads = len(own)
    if n_threads == 1:
        return function(0, 1, own[0], *shared)
    with ThreadPoolExecutor(n_threads - 1, thread_name_prefix="grandag") as pool:
        try:
            others = [pool.submit(function, thread, n_threads, own[thread], *shared) for thread in range(1, n_threads)]
            result = function(0, n_threads, own[0], *shared)
        except BaseException:
            if barrier is not None:
                barrier[_CALLED_OFF] = 1
            let_others_compile()
            raise
        for other in others:
            other.result()
    return result


def new_barrier() -> np.ndarray:
    """A barrier: how many threads have arrived, how often all of them have, and whether the meeting is called off."""
    return np.zeros(3, dtype=np.int64)


@compiled
def wait(barrier, n_threads):
    """Return when all threads have arrived here: True; or when the meeting is called off: False.

    Only the first meeting of a call can be called off: once all threads are in compiled code, nothing stops them.
    """
    if n_threads == 1:
        return True
    meeting = _atomic_load(barrier, _MEETINGS)
    if _atomic_add(barrier, _ARRIVED, 1) == n_threads - 1:
        _atomic_add(barrier, _ARRIVED, -n_threads)
        _atomic_add(barrier, _MEETINGS, 1)
        return True
    spins = 0
    while _atomic_load(barrier, _MEETINGS) == meeting:
        spins += 1
        if spins % _SPINS_BEFORE_GIVING_WAY == 0:
            if _atomic_load(barrier, _CALLED_OFF) != 0:
                return False
            _give_way()
    return True


@inlined
def share(n_items, thread, n_threads):
    """The half-open range of items that belongs to a thread."""
    return n_items * thread // n_threads, n_items * (thread + 1) // n_threads


def _address(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [index])


@intrinsic
def _atomic_load(typing_context, array, index):
    def generate(context, builder, signature, arguments):
        array, index = arguments
        return builder.load_atomic(_address(context, builder, signature.args[0], array, index), "seq_cst", 8)

    return types.int64(array, types.intp), generate


@intrinsic
def _atomic_add(typing_context, array, index, amount):
    def generate(context, builder, signature, arguments):
        array, index, amount = arguments
        address = _address(context, builder, signature.args[0], array, index)
        return builder.atomic_rmw("add", address, amount, "seq_cst")

    return types.int64(array, types.intp, types.int64), generate
