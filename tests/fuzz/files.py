"""Files that nobody meant: tables, knowledge and graphs, made to hurt by hand and by chance.

Cases are a file's name and its content, or a function that makes it.
`python -m tests.fuzz.files KIND DIRECTORY NUMBER ...` reads some of them in a process of limited memory and computing
time, and prints what came of it as JSON.
"""

import bz2
import functools
import gzip
import io
import json
import lzma
import os
import resource
import sys
import time
import warnings
import zipfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import grandag
from grandag.graph import GraphError, read_graph
from grandag.graph.formats import _FORMATS
from grandag.knowledge import Knowledge, KnowledgeError
from grandag.learned import TrainingError
from grandag.reading import read_table
from grandag.table import TableError, as_table

N_BY_CHANCE = 300
"""Files of each kind by chance, beside those by hand."""

MOST_SECONDS, MOST_BYTES = 20, 1 << 30
"""Of computing and of memory, for one file."""

NAMES = ("a", "b", "c", "income", "gene_1", "gene_2")


class At(NamedTuple):
    """What makes something else than a regular file."""

    make: Callable[[Path], object]


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 4)).round(4)
    values[:, 1] += values[:, 0]
    return pd.DataFrame(values, columns=["a", "b", "c", "income"])


def npy(array) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def npy_claiming(header: str, data: bytes = b"\0" * 64) -> bytes:
    text = header.encode()
    return np.lib.format.magic(1, 0) + len(text).to_bytes(2, "little") + text + data


HEADERS = (
    "{'descr': '<f8', 'fortran_order': False, 'shape': (93000000000, 1), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 2), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (1, 1), }",
    "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (8, 1), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (10**9)**9, }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (9e99, 2), }",
    "{'descr': '|V999999999', 'fortran_order': False, 'shape': (), }",
    "{'descr': '<U2000000000', 'fortran_order': False, 'shape': (0, 2), }",
    "__import__('os').abort()",
    "{" * 9000,
    "",
)


def zipped(members: dict[str, bytes], method=zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def parquet(table: pd.DataFrame) -> bytes:
    stream = io.BytesIO()
    table.to_parquet(stream)
    return stream.getvalue()


def long_parquet() -> bytes:
    """A billion zeros, in a few kilobytes."""
    import pyarrow
    from pyarrow import parquet

    stream, zeros = io.BytesIO(), pyarrow.table({"a": np.zeros(10_000_000), "b": np.zeros(10_000_000)})
    with parquet.ParquetWriter(stream, zeros.schema, compression="zstd") as writer:
        for _ in range(5):
            writer.write_table(zeros)
    return stream.getvalue()


CSV = frame().to_csv(index=False)
WIDE = ",".join(f"x{k}" for k in range(1_000_000))

TABLES = {
    "fifo.csv": At(os.mkfifo),
    "folder.csv": At(os.mkdir),
    "device.csv": At(lambda path: path.symlink_to("/dev/zero")),
    "loop.csv": At(lambda path: path.symlink_to(path)),
    "dangling.csv": At(lambda path: path.symlink_to(path.with_name("nowhere"))),
    "fifo.npy": At(os.mkfifo),
    "fifo.csv.gz": At(os.mkfifo),
    "fifo.parquet": At(os.mkfifo),
    "folder.parquet": At(os.mkdir),
    "device.npy": At(lambda path: path.symlink_to("/dev/zero")),
    "empty.csv": b"",
    "blank.csv": b"\n" * 1000,
    "header.csv": b"a,b\n",
    "nul.csv": b"\0" * 10_000,
    "nul2.csv": CSV.replace("0.", "\0").encode(),
    "random.csv": np.random.default_rng(0).bytes(100_000),
    "latin.csv": CSV.replace("income", "\xe4").encode("latin-1"),
    "utf16.csv": CSV.encode("utf-16"),
    "half utf16.csv": CSV.encode("utf-16")[:-1],
    "utf32.csv": CSV.encode("utf-32"),
    "million columns.csv": f"{WIDE}\n".encode(),
    "million columns and rows.csv": lambda: (f"{WIDE}\n" + ("1," * 999_999 + "1\n") * 12).encode(),
    "million columns.tsv": WIDE.replace(",", "\t").encode(),
    "hundred thousand columns.csv": ",".join(f"x{k}" for k in range(99_999)).encode() + b"\n" + b"1," * 99_998 + b"1\n",
    "million spaces.txt": ("x " * 1_000_000).encode(),
    "one long name.csv": b"a" * 3_000_000 + b",b\n" + b"1,2\n" * 20,
    "long text.csv": b"a,b\n" + b"1," + b"x" * 3_000_000 + b"\n" + b"1,2\n" * 20,
    "long quoted.csv": b'a,b\n1,"' + b"x\n" * 2_000_000,
    "quotes.csv": b'"' * 100_000,
    "400 digits.csv": b"a,b\n" + (b"9" * 400 + b",1\n") * 20,
    "5000 digits.csv": b"a,b\n" + (b"9" * 5000 + b",1\n") * 20,
    "some 400 digits.csv": b"a,b\n" + (b"1,2\n" * 20) + b"9" * 400 + b",1\n",
    "exponents.csv": b"a,b\n" + b"1e999,1\n" * 20 + b"2,1e-999\n" * 20,
    "huge exponent.csv": b"a,b\n" + b"1e99999999999999999999,1\n" * 20,
    "infinite.csv": b"a,b\n" + b"inf,-inf\n" * 20,
    "nan.csv": b"a,b\n" + b"nan,nan\n" * 20,
    "ragged.csv": b"a,b\n" + b"1,2\n" * 20 + b"1,2,3,4,5\n",
    "ragged at once.csv": b"a,b\n" + b"1,2,3\n" * 20,
    "short lines.csv": b"a,b,c\n" + b"1\n" * 20,
    "no names.csv": b"1,2\n" * 20,
    "empty names.csv": b",,\n" + b"1,2,3\n" * 20,
    "same names.csv": b"a,a\n" + b"1,2\n" * 20,
    "control names.csv": b"\x1b[2J,\x07\x08\n" + b"1,2\n" * 20,
    "true.csv": b"a,b\n" + b"True,False\nFalse,True\n" * 20,
    "dates.csv": b"a,b\n" + b"2020-01-01,1\n" * 20,
    "complex.csv": b"a,b\n" + b"1+2j,1\n" * 20,
    "hex.csv": b"a,b\n" + b"0x10,1\n" * 20,
    "underscores.csv": b"a,b\n" + b"1_000,1\n" * 20,
    "arabic digits.csv": b"a,b\n" + "١٢,1\n".encode() * 20,
    "surrogates.csv": b"a,\xed\xa0\x80\n" + b"1,2\n" * 20,
    "carriage returns.csv": CSV.replace("\n", "\r").encode(),
    "comment.csv": b"# comment\n" + CSV.encode(),
    "corrupt.csv.gz": gzip.compress(CSV.encode())[:-20] + b"x" * 20,
    "cut.csv.gz": gzip.compress(CSV.encode())[:100],
    "flipped.csv.gz": bytes(byte ^ (k == 60) for k, byte in enumerate(gzip.compress(CSV.encode()))),
    "tail.csv.gz": gzip.compress(CSV.encode()) + b"more",
    "fake.csv.gz": CSV.encode(),
    "fake.csv.xz": CSV.encode(),
    "fake.csv.zip": CSV.encode(),
    "fake.csv.bz2": CSV.encode(),
    "cut.csv.xz": lzma.compress(CSV.encode())[:60],
    "cut.csv.bz2": bz2.compress(CSV.encode())[:60],
    "cut.csv.zip": zipped({"data.csv": CSV.encode()})[:-30],
    "none.csv.zip": zipped({}),
    "two.csv.zip": zipped({"a.csv": b"", "b.csv": b""}),
    "secret.csv.zip": zipped({"a.csv": CSV.encode()}).replace(b"\x14\0\0\0", b"\x14\0\1\0"),
    "method.csv.zip": zipped({"a.csv": CSV.encode()}).replace(b"\x08\0", b"\x63\0"),
    "bomb.csv.gz": lambda: gzip.compress(bytes(1 << 29), 1),
    "bomb.csv.bz2": lambda: bz2.compress(bytes(1 << 29)),
    "bomb.csv.xz": lambda: lzma.compress(bytes(1 << 29), preset=0),
    "bomb.csv.zip": lambda: zipped({"a.csv": bytes(1 << 29)}),
    "fake.parquet": CSV.encode(),
    "magic.parquet": b"PAR1" + b"\0" * 100 + b"PAR1",
    "footer.parquet": b"PAR1" + b"\xff" * 100 + b"\xff\xff\xff\x7fPAR1",
    "cut.parquet": lambda: parquet(frame())[:-100],
    "long.parquet": long_parquet,
    "texts.parquet": lambda: parquet(pd.DataFrame({"a": ["x" * 100_000] * 20, "b": [[[1], [2]]] * 20})),
    "bytes.parquet": lambda: parquet(pd.DataFrame({"a": [b"\xff" * 1000] * 20, "b": [{"x": 1}] * 20})),
    "dates.parquet": lambda: parquet(pd.DataFrame({"a": pd.date_range("2020", periods=20), "b": range(20)})),
    "fake.npy": CSV.encode(),
    "empty.npy": b"",
    "flat.npy": npy(np.zeros(30)),
    "deep.npy": npy(np.zeros((2,) * 20)),
    "number.npy": npy(np.float64(1)),
    "wide.npy": lambda: npy(np.zeros((10, 100_000))),
    "no columns.npy": npy(np.zeros((20, 0))),
    "no rows.npy": npy(np.zeros((0, 3))),
    "objects.npy": npy(np.array([[print, os.abort]], dtype=object)),
    "texts.npy": npy(np.array([["1", "x"]] * 20)),
    "complex.npy": npy(np.ones((20, 2), complex)),
    "dates.npy": npy(np.zeros((20, 2), "M8[s]")),
    "half.npy": npy(np.random.default_rng(0).normal(size=(20, 2)).astype(np.float16)),
    "infinite.npy": npy(np.full((20, 2), np.inf)),
    "cut.npy": npy(np.zeros((30, 3)))[:-8],
    "more.npy": npy(np.zeros((30, 3))) + b"\0",
    "version.npy": npy(np.zeros((30, 3))).replace(b"NUMPY\x01", b"NUMPY\x09"),
    **{f"header {k}.npy": npy_claiming(header) for k, header in enumerate(HEADERS)},
    "no ending": CSV.encode(),
    "other.xlsx": b"PK",
    "n" * 200 + ".csv": b"a",
}

ENTRIES = ("1", "1.5", "true", "'text'", "[]", "[1]", "['a']", "[[]]", "[['a']]", "[['a', 'b', 'c']]", "[['a', 1]]",
           "{}", "{a = 1}", "[{a = 1}]", "[['a', ['b']]]", "2020-01-01", "[-1]", "[9]", "['a', 'a']", "[['a', 'a']]",
           "[['*', '*']]", "[['a', 'b'], ['b', 'a']]", "[['nobody', 'b']]", "['']", "[['[', '[']]", "[1979-05-27]",
           "['" + "*a" * 500 + "b']", "['" + "x" * 100_000 + "']", "[" * 50_000, "[" * 5000 + "]" * 5000,
           "nan", "9" * 5000, "9" * 4000, "[" + "['a', 'b']," * 20_000 + "]")  # fmt: skip
FIELDS = ("forbidden", "required", "tiers", "roots", "leaves", "closed_tiers", "unknown", "'a b'", "a.b", "tiers.a")

KNOWLEDGE = {
    "fifo.toml": At(os.mkfifo),
    "folder.toml": At(os.mkdir),
    "device.toml": At(lambda path: path.symlink_to("/dev/zero")),
    "empty.toml": b"",
    "bytes.toml": b"\xff\xfe\0",
    "random.toml": np.random.default_rng(0).bytes(10_000),
    "keys.toml": b"a." * 100_000 + b"a = 1",
    "tables.toml": b"".join(b"[a%d]\n" % k for k in range(50_000)),
    "twice.toml": b"roots = ['a']\nroots = ['b']",
    **{f"{field} {k}.toml": f"{field} = {entry}".encode() for field in FIELDS for k, entry in enumerate(ENTRIES)},
    **{
        f"tetrad {k}.txt": text.encode()
        for k, text in enumerate(
            [
                "/knowledge",
                "/knowledge\naddtemporal\n1 a b\n2 c",
                "/knowledge\naddtemporal\n1 a\n1 a\n2* a",
                "/knowledge\naddtemporal\n² a\n2 b",
                "/knowledge\naddtemporal\n" + "9" * 5000 + " a",
                "/knowledge\naddtemporal\n-1 a",
                "/knowledge\naddtemporal\n* a",
                "/knowledge\naddtemporal\n1** a",
                "/knowledge\nforbiddirect\na",
                "/knowledge\nforbiddirect\na b c",
                "/knowledge\nforbiddirect\na nobody",
                "/knowledge\nrequiredirect\na b\nb a",
                "/knowledge\nrequiredirect\na a",
                "/knowledge\nforbiddirect\na b\nrequiredirect\na b",
                "/knowledge\nforbiddirect\n" + "a b\n" * 50_000,
                "/knowledge\n" + "x" * 1_000_000,
                "/" * 1_000_000,
                "/knowledge\naddtemporal\n" + "\n".join(f"{k}* a" for k in range(5000)),
            ]
        )
    },
}

GRAPH = (np.triu(np.ones((4, 4), dtype=bool), 1), ("a", "b", "c", "d e"))
ENDINGS = (*_FORMATS, ".csv", ".tsv", ".npy")
TEXTS = {ending: form.to_text(GRAPH) for ending, form in _FORMATS.items()}
TEXTS |= {".csv": "source,target\na,b\nb,c\n", ".tsv": "\ta\tb\na\t0\t1\nb\t0\t0\n"}


def many_nodes(form: str) -> str:
    names = [f"n{k}" for k in range(100_000)]
    return {
        ".dot": f"digraph {{ {'; '.join(names)} }}",
        ".dagitty": f"dag {{ {' '.join(names)} }}",
        ".json": json.dumps({"nodes": names, "edges": []}),
        ".csv": "source,target\n" + "\n".join(f"{name},x{name}" for name in names),
        ".gml": "graph [\n" + "\n".join(f'node [ id {k} label "n{k}" ]' for k in range(100_000)) + "\n]",
        ".graphml": "<graphml><graph edgedefault='directed'>"
        + "".join(f"<node id='{name}'/>" for name in names)
        + "</graph></graphml>",
    }[form]


def graphml(kind: str, value: str) -> bytes:
    return (
        f"<graphml xmlns='http://graphml.graphdrawing.org/xmlns'><key id='k' for='edge' attr.name='w' "
        f"attr.type='{kind}'/><graph edgedefault='directed'><node id='a'/><node id='b'/><edge source='a' "
        f"target='b'><data key='k'>{value}</data></edge></graph></graphml>"
    ).encode()


LAUGHS = (
    "<!DOCTYPE g [<!ENTITY a0 'ha'>"
    + "".join(f"<!ENTITY a{k + 1} '{f'&a{k};' * 10}'>" for k in range(12))
    + "]><graphml><graph edgedefault='directed'><node id='&a12;'/></graph></graphml>"
)
OUTSIDE = "<!DOCTYPE g [<!ENTITY f SYSTEM 'file:///etc/hostname'>]><graphml><graph><node id='&f;'/></graph></graphml>"

GRAPHS = {
    "device.dot": At(lambda path: path.symlink_to("/dev/zero")),
    **{f"fifo{ending}": At(os.mkfifo) for ending in ENDINGS},
    **{f"folder{ending}": At(os.mkdir) for ending in ENDINGS},
    **{f"empty{ending}": b"" for ending in ENDINGS},
    **{f"bytes{ending}": b"\xff\xfe\0\1" for ending in ENDINGS},
    **{f"random{ending}": np.random.default_rng(0).bytes(10_000) for ending in ENDINGS},
    **{f"brackets{ending}": bracket.encode() * 100_000 for ending, bracket in product(ENDINGS, "[")},
    **{f"braces{ending}": b"digraph {" * 50_000 for ending in ENDINGS},
    **{f"tags{ending}": b"<a>" * 100_000 for ending in ENDINGS},
    **{f"long name{ending}": text.replace("a", "a" * 1_000_000).encode() for ending, text in TEXTS.items()},
    **{
        f"many{form}": functools.partial(many_nodes, form)
        for form in (".dot", ".dagitty", ".json", ".csv", ".gml", ".graphml")
    },
    **{f"header {k}.npy": npy_claiming(header) for k, header in enumerate(HEADERS)},
    "objects.npy": npy(np.array([[print, os.abort]], dtype=object)),
    "weights.npy": npy(np.full((3, 3), 0.5)),
    "texts.npy": npy(np.array([["a", "b"], ["c", "d"]])),
    "flat.npy": npy(np.zeros(9)),
    "loops.npy": npy(np.ones((3, 3))),
    "nan.npy": npy(np.full((3, 3), np.nan)),
    "edges.dot": lambda: (
        f"digraph {{ {{{' '.join(f'a{k}' for k in range(5000))}}} -> {{{' '.join(f'b{k}' for k in range(4000))}}} }}"
    ),
    "chain.dot": lambda: f"digraph {{ {' -> '.join(f'a{k}' for k in range(20_000))} }}",
    "quote.dot": b'digraph { "' + b"a" * 1_000_000,
    "comment.dot": b"digraph { /*" + b"/*" * 500_000,
    "attributes.dot": b"digraph { a [" + b"x=1," * 200_000 + b"] }",
    "hidden.dot": b"digraph { a <-> b }",
    "loop.dot": b"digraph { a -> a }",
    "cycle.dot": b"digraph { a -> b -> c -> a }",
    "sub.dot": b"digraph { subgraph { a -> b } }",
    "laughs.graphml": LAUGHS.encode(),
    "outside.graphml": OUTSIDE.encode(),
    **{
        f"type {k}.graphml": graphml(*pair)
        for k, pair in enumerate(
            product(
                ["int", "float", "boolean", "string", "unknown", "long", "yfiles", ""],
                ["1", "x", "", "nan", "9" * 5000, "<b/>", "&#0;"],
            )
        )
    },
    "nested.graphml": b"<graphml><graph><node id='a'>" + b"<graph><node id='a'>" * 20_000,
    "hyper.graphml": b"<graphml><graph><hyperedge/><port/></graph></graphml>",
    "no ends.graphml": b"<graphml><graph><edge/></graph></graphml>",
    "no ids.graphml": b"<graphml><graph edgedefault='directed'><node/><node/></graph></graphml>",
    "no direction.graphml": b"<graphml><graph><node id='a'/></graph></graphml>",
    **{
        f"json {k}.json": json.dumps(value).encode()
        for k, value in enumerate(
            [
                None,
                1,
                "a",
                [],
                {},
                {"nodes": None},
                {"nodes": 1, "edges": []},
                {"nodes": "abc", "edges": []},
                {"nodes": {"a": 1}, "edges": []},
                {"nodes": ["a"], "edges": {}},
                {"nodes": ["a"], "edges": [1]},
                {"nodes": ["a"], "edges": [{}]},
                {"nodes": ["a", "a"], "edges": []},
                {"nodes": [], "edges": []},
                {"nodes": ["a", "b"], "edges": [{"source": "a", "target": "c"}]},
                {"nodes": ["a"], "edges": [{"source": "a", "target": "a"}]},
                {"nodes": [["a"], {"b": 1}, None], "edges": []},
                {"nodes": ["\ud800", "\0"], "edges": []},
                {"nodes": ["a", "b"], "edges": [{"source": "a", "target": "b", "undirected": "no"}]},
            ]
        )
    },
    "deep.json": b'{"nodes": ' + b"[" * 900 + b"]" * 900 + b', "edges": []}',
    "digits.json": b'{"nodes": [' + b"9" * 5000 + b'], "edges": []}',
    "gml types.gml": b'graph [ directed 1 node [ id "x" label 5 ] node [ id 1.5 ] edge [ source "x" target 1.5 ] ]',
    "gml twice.gml": b'graph [ node [ id 1 label "a" ] node [ id 1 label "a" ] ]',
    "gml missing.gml": b'graph [ node [ id 1 label "a" ] edge [ source 1 target 9 ] ]',
    "gml deep.gml": b"graph [ " * 20_000 + b"]" * 20_000,
    "gml lists.gml": b"graph [ node 1 node [ id [ a 1 ] label [ b 2 ] ] ]",
    "gml entity.gml": b'graph [ node [ id 1 label "&#99999999999;&nothing;" ] ]',
    "gml digits.gml": b"graph [ node [ id " + b"9" * 5000 + b' label "a" ] ]',
    "edge numbers.csv": b"source,target\n1,2\n2,3\n",
    "edge types.csv": b"source,target,type\na,b,o-o\n",
    "edges wide.csv": WIDE.encode(),
    "edges gaps.csv": b"source,target\na\n,b\n",
    "cells.csv": b",a,b\na,0,x\nb,0,0\n",
    "cells wide.csv": b",a,b\na,0,1,1\nb,0,0\n",
    "cells names.csv": b",a,b\nc,0,1\nd,0,0\n",
    "cells same.csv": b",a,a\na,0,1\na,0,0\n",
    "cells only.csv": b"0,1\n0,0\n",
    "no ending": b"digraph {}",
}

ORIGINALS = {
    "tables": {
        "t.csv": CSV.encode(),
        "t.tsv": CSV.replace(",", "\t").encode(),
        "t.csv.gz": gzip.compress(CSV.encode(), mtime=0),
        "t.csv.zip": zipped({"t.csv": CSV.encode()}),
        "t.npy": npy(frame().to_numpy()),
        "t.parquet": parquet(frame()),
    },
    "knowledge": {
        "k.toml": b"forbidden = [['a', 'b']]\nrequired = [['b', 'c']]\ntiers = [['a'], ['b', 'gene_*']]\n"
        b"closed_tiers = [1]\nroots = ['a']\nleaves = ['income']\n",
        "k.txt": b"/knowledge\naddtemporal\n1* a b\n2 income\nforbiddirect\nb c\nrequiredirect\na income\n",
    },
    "graphs": {f"g{ending}": text.encode() for ending, text in TEXTS.items()} | {"g.npy": npy(GRAPH[0])},
}

PIECES = (b"", b"\0", b'"', b"'", b"[", b"]", b"{", b"}", b",", b"\n", b"\r", b"\\", b"=", b"->", b"\xff", b"9" * 400,
          b"nan", b"1e999", b"<", b"&", b"#", b"-1", b"\xe2\x80\xa8", b"a" * 5000)  # fmt: skip


def by_chance(kind: str, number: int) -> tuple[str, bytes]:
    """A good file with up to five changes: bits flipped, parts cut, doubled or replaced."""
    rng = np.random.default_rng([number, *kind.encode()])
    files = ORIGINALS[kind]
    name = list(files)[number % len(files)]
    content = bytearray(files[name])
    for _ in range(int(rng.integers(1, 6))):
        first = int(rng.integers(len(content) + 1))
        last = min(first + int(rng.integers(1, 20)), len(content))
        way = rng.integers(4)
        if way == 0 and content:
            content[first % len(content)] ^= 1 << int(rng.integers(8))
        elif way == 1:
            del content[first:last]
        elif way == 2:
            content[first:first] = content[first:last] * int(rng.integers(1, 50))
        else:
            content[first:last] = PIECES[int(rng.integers(len(PIECES)))]
    return name, bytes(content)


BY_HAND = {"tables": TABLES, "knowledge": KNOWLEDGE, "graphs": GRAPHS}


def n_cases(kind: str) -> int:
    return len(BY_HAND[kind]) + N_BY_CHANCE


def write_case(kind: str, number: int, directory: Path) -> Path:
    """Make a file."""
    by_hand = list(BY_HAND[kind].items())
    is_by_hand = number < len(by_hand)
    name, content = by_hand[number] if is_by_hand else by_chance(kind, number - len(by_hand))
    path = directory / name
    if isinstance(content, At):
        content.make(path)
    else:
        made = content() if callable(content) else content
        path.write_bytes(made.encode() if isinstance(made, str) else made)
    return path


def read_as_table(path: Path) -> None:
    """And learn from it, if it is a small one."""
    table = as_table(read_table(path), missing="drop")
    if table.values.shape[1] < 10 and len(table.values) < 1000:
        model = grandag.PC().fit(table)
        assert np.isfinite(model.strength_).all()
        assert np.isfinite(model.score(table.values))


def read_as_knowledge(path: Path) -> None:
    masks = Knowledge.read(path).masks(NAMES)
    assert masks.allowed.shape == masks.required.shape == (len(NAMES),) * 2


def read_as_graph(path: Path) -> None:
    adjacency, names = read_graph(path)
    assert adjacency.dtype == bool
    assert adjacency.shape == (len(adjacency),) * 2
    assert names is None or len(names) == len(set(names)) == len(adjacency)


READERS = {"tables": read_as_table, "knowledge": read_as_knowledge, "graphs": read_as_graph}
OURS = (TableError, KnowledgeError, GraphError, TrainingError)


def outcome(kind: str, path: Path) -> str:
    """Used, refused, or what went wrong."""
    start = time.process_time()
    Path("/proc/self/clear_refs").write_text("5")  # forget how much memory was used before
    try:
        READERS[kind](path)
        result = "used"
    except OURS as error:
        is_brief = len(str(error)) <= 600 and "\n" not in str(error)
        result = "refused" if is_brief else f"{len(str(error))} letters: {error!s:.200}"
    except Exception as error:
        result = f"{type(error).__name__}: {error!s:.200}"
    seconds, n_bytes = time.process_time() - start, most_memory()
    is_cheap = seconds < MOST_SECONDS and n_bytes < MOST_BYTES
    return result if is_cheap else f"{result} after {seconds:.0f} s with {n_bytes / 1e9:.1f} GB"


def most_memory() -> int:
    """The most that this process has used at once, in bytes."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def main(kind: str, directory: str, *numbers: str) -> None:
    """Errors of memory and computing time come from here, whatever the machine has."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (1200, 1200))
    faults, counts = {}, {"used": 0, "refused": 0}
    for number in map(int, numbers):
        place = Path(directory) / str(number)
        place.mkdir()
        path = write_case(kind, number, place)
        print(f"{number} {path.name[:50]}", file=sys.stderr, flush=True)  # where it was if it dies
        result = outcome(kind, path)
        if result in counts:
            counts[result] += 1
        else:
            faults[f"{number} {path.name[:50]}"] = result
    print(json.dumps({"faults": faults, **counts}))


if __name__ == "__main__":
    main(*sys.argv[1:])
