"""Model files that no `save` wrote: every array and entry of real ones, broken in every way that comes to mind."""

import functools
import io
import json
import zipfile

import numpy as np

import grandag
from grandag.report.facts import FitSummary
from grandag.report.fit_page import page_of
from grandag.table import as_table

BOMB = 30_000_000
"""Zeros in the archive that unpacks to too much."""


def table(rng: np.random.Generator) -> np.ndarray:
    a = rng.normal(size=60)
    b = np.sin(2 * a) + 0.3 * rng.normal(size=60)
    return np.column_stack([a, b, a * b + 0.3 * rng.normal(size=60), np.full(60, 2.0)])


def originals(directory) -> dict[str, bytes]:
    """A small saved model of each kind of conditionals, by the name of its method."""
    rows = table(np.random.default_rng(0))
    models = {
        "grandag": grandag.GraNDAG(max_iterations=60, n_units=3, record_A_phi=True, prune=False, random_state=0),
        "cam": grandag.CAM(prune_cutoff=0.5),
        "dag-gnn": grandag.DAGGNN(
            n_epochs=2, weight_threshold=0.0, n_encoder_units=2, n_decoder_units=2, random_state=0
        ),
        "gsf": grandag.GSF(),
        "ges": grandag.GES(),
    }
    files = {}
    for name, model in models.items():
        model.fit(rows).save(directory / "model.npz")
        files[name] = (directory / "model.npz").read_bytes()
    return files


def unpacked(content: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def packed(arrays: dict[str, np.ndarray]) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


ARRAYS = {
    "gone": lambda x: None,
    "empty": lambda x: np.zeros(0),
    "a number": lambda x: np.float64(1.0),
    "shorter": lambda x: x[:-1],
    "first column": lambda x: x[..., :1],
    "larger": lambda x: np.resize(x, [1000 + n for n in x.shape] if x.ndim < 3 else x.shape),
    "deeper": lambda x: x[None],
    "flat": lambda x: x.ravel(),
    "not a number": lambda x: np.full(x.shape, np.nan),
    "infinite": lambda x: np.full(x.shape, -np.inf),
    "negative": lambda x: np.full(x.shape, -1.0),
    "whole": lambda x: np.full(x.shape, 2**62),
    "single": lambda x: x.astype(np.float32) if x.dtype.kind != "U" else x.astype("S"),
    "complex": lambda x: np.ones(x.shape, complex),
    "text": lambda x: np.full(x.shape, "word"),
    "truth": lambda x: np.ones(x.shape, bool),
    "other order": lambda x: np.full(x.shape, 2.0).astype(">f8"),
    "reversed": lambda x: x[::-1],
}  # fmt: skip
"""What may be done to an array."""

ENTRIES = (
    None,
    True,
    -1,
    10**400,
    1e308,
    float("nan"),
    "",
    "word",
    "\ud800",
    [],
    [[]],
    {},
    {"a": {}},
    [1, 2],
    ["a", "a"],
)
"""What may stand for an entry of the JSON."""


def broken_arrays(content: bytes):
    """Every array, in every way; names, and functions that make the file."""
    arrays = unpacked(content)
    for name in arrays:
        for way in ARRAYS:
            yield f"{name} {way}", functools.partial(_with_array, arrays, name, way)
        more = {**arrays, f"{name}.more": arrays[name]}
        renamed = {(f"x{key}" if key == name else key): value for key, value in arrays.items()}
        yield f"{name} twice", functools.partial(packed, more)
        yield f"{name} renamed", functools.partial(packed, renamed)


def _with_array(arrays: dict[str, np.ndarray], name: str, way: str) -> bytes:
    rest = {other: array for other, array in arrays.items() if other != name}
    with np.errstate(all="ignore"):
        changed = ARRAYS[way](np.atleast_1d(arrays[name]))
    return packed(rest if changed is None else {**rest, name: np.asarray(changed)})


def broken_entries(content: bytes):
    """Every entry of the JSON, also those inside others, replaced by every value."""
    arrays = unpacked(content)
    meta = str(arrays["meta"])
    for path in _paths(json.loads(meta)):
        for value in ENTRIES:
            yield f"{path} {str(value)[:20]}", functools.partial(_with_entry, arrays, meta, path, value)
    for text in ("", "{", "[" * 100_000, "null", "[]", '"text"', "{}"):
        yield f"JSON {text[:10]}", functools.partial(packed, {**arrays, "meta": np.array(text)})


def _with_entry(arrays: dict[str, np.ndarray], meta: str, path, value) -> bytes:
    changed = json.loads(meta)
    *outer, last = path
    functools.reduce(lambda place, key: place[key], outer, changed)[last] = value
    return packed({**arrays, "meta": np.array(json.dumps(changed).replace("1" + "0" * 400, "9" * 5000))})


def _paths(value, path=()):
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield (*path, key)
        yield from _paths(value[key], (*path, key))


def flipped(content: bytes, rng: np.random.Generator, n: int):
    """One bit flipped, or bytes cut from the end or the middle."""
    for number in range(n):
        changed = bytearray(content)
        if number % 5 == 4:
            first, last = sorted(rng.integers(0, len(changed), 2))
            del changed[first:last]
        else:
            changed[rng.integers(len(changed))] ^= 1 << rng.integers(8)
        yield f"flip {number}", functools.partial(bytes, changed)


def hostile_archives(content: bytes):
    """Archives that claim what is not so, or that hold something else."""
    arrays = unpacked(content)

    def with_member(name, data, method=zipfile.ZIP_DEFLATED):
        stream = io.BytesIO(packed(arrays))
        with zipfile.ZipFile(stream, "a", method) as archive:
            archive.writestr(name, data)
        return stream.getvalue()

    header = np.lib.format.magic(1, 0)
    for text in (
        "{'descr': '<f8', 'fortran_order': False, 'shape': (93000000000,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
        "__import__('os')",
        "{" * 9000,
    ):
        data = header + len(text).to_bytes(2, "little") + text.encode() + b"\0" * 8  # fmt: skip
        yield f"header {text[:60]}", with_member("strange.npy", data)
    yield "no array", with_member("code.py", "print('run')")
    yield "lzma", with_member("strange.npy", packed({})[:10] * 50, zipfile.ZIP_LZMA)
    yield "bzip2", with_member("strange.npy", packed({})[:10] * 50, zipfile.ZIP_BZIP2)
    yield "a bomb", with_member("strange.npy", bytes(BOMB))


def use(model) -> float:
    """Everything that a loaded model is for; its score."""
    rows = table(np.random.default_rng(1))
    page_of(FitSummary(model, "a table"), as_table(rows))
    model.sample(3, random_state=0)
    model.predict(rows)
    model.residuals(rows)
    repr(model), model.edges_, model.graph_, model.notes_, model.causal_order_
    if isinstance(model, grandag.DAGGNN):
        model.evidence_lower_bound(rows)
    return model.score(rows)
