"""The cache of compiled code: what invalidates it, and what a user is told."""

import logging
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np

from grandag.engine import compiled as module
from grandag.engine.compiled import announcing_compilation, compiled
from grandag.engine.optimiser import rmsprop
from grandag.evidence.optimiser import _update as evidence_update


def sources_in_key(function):
    return function._cache._index_key((), numba.core.registry.cpu_target.target_context.codegen())[-1]


def test_key_contains_all_sources(tmp_path):
    """Those of the engine, and of the folder that a function is in."""
    engine = Path(module.__file__).parent
    assert sources_in_key(rmsprop) == module._fingerprint(engine)
    assert sources_in_key(evidence_update) == module._fingerprint(engine.parent / "evidence")
    assert module._fingerprint(engine) != module._fingerprint(engine.parent / "evidence")
    (tmp_path / "code.py").write_text("one")
    before = module._fingerprint(tmp_path)
    module._fingerprint.cache_clear()
    (tmp_path / "code.py").write_text("two")
    assert module._fingerprint(tmp_path) != before


def test_compilation_is_announced_once(caplog):
    @compiled
    def add(a, b):
        return a + b

    add._cache.flush()  # an earlier run of this test has left its code on disk
    with caplog.at_level(logging.WARNING, logger="grandag"), announcing_compilation():
        add.compile((numba.int64, numba.int64))
        add.compile((numba.float32, numba.float32))
    assert [record.message for record in caplog.records] == [
        "Compiling the engine for this machine; this takes up to 20 seconds and happens only once."
    ]
    with announcing_compilation():
        add(1, 2)
    assert len(caplog.records) == 1


def test_compilation_of_the_evidence_is_announced_by_itself(caplog):
    """Not as what it calls, which is compiled within."""

    @compiled
    def add(a, b):
        return a + b

    def add_twice(a, b):
        return add(add(a, b), b)

    add_twice.__module__ = "grandag.evidence.some"
    add_twice = compiled(add_twice)
    for function in (add, add_twice):
        function._cache.flush()
    with caplog.at_level(logging.WARNING, logger="grandag"), announcing_compilation():
        add_twice.compile((numba.int64, numba.int64))
        assert len(caplog.records) == 1
        add.compile((numba.float32, numba.float32))
    assert [record.message.split(" for ")[0] for record in caplog.records] == [
        "Compiling the search by evidence",
        "Compiling the engine",
    ]


def test_fresh_and_cached_code_give_the_same_bits(tmp_path):
    """Two processes, the first with an empty cache: the optimiser may differ, the numbers may not."""
    program = (
        "import numpy as np, warnings; warnings.simplefilter('ignore'); from grandag import GraNDAG; "
        "X = np.random.default_rng(0).normal(size=(100, 18)); "
        "m = GraNDAG.preset('fast', max_iterations=150, random_state=0, retrain=False, n_jobs=1).fit(X); "
        "print(m.A_phi_.tobytes().hex(), m.expected_jacobian_.tobytes().hex())"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            capture_output=True,
            text=True,
            env={"NUMBA_CACHE_DIR": str(tmp_path)},
        )
        for _ in range(2)
    ]
    assert "Compiling" in outputs[0].stderr
    assert outputs[1].stderr == ""
    assert outputs[0].stdout == outputs[1].stdout
    assert len(outputs[0].stdout) > 18 * 18 * 8


def test_works_without_a_cache(monkeypatch, caplog):
    def nowhere(function):
        raise RuntimeError("no locator available")

    monkeypatch.setattr(module, "_EngineCache", nowhere)
    module._say_once.cache_clear()
    with caplog.at_level(logging.WARNING, logger="grandag"):
        functions = [compiled(lambda x: x + 1) for _ in range(2)]
    assert functions[0](1) == 2
    assert len(caplog.records) == 1
    assert "NUMBA_CACHE_DIR" in caplog.text


def test_threads_do_not_leave_settings_behind():
    threads = numba.get_num_threads()
    rmsprop(np.ones(16), np.ones(16), 1.0, np.zeros(16), 0.1)
    assert numba.get_num_threads() == threads
