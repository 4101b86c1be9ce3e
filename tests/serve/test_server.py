"""The server by its answers: who is let in, what is kept, and what survives."""

import concurrent.futures
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from grandag import datasets
from grandag.graph import read_graph
from grandag.knowledge import Knowledge
from grandag.methods.storage import load
from tests.command import run
from tests.serve.bench import Bench, serving, wait_for
from tests.serve.tables import FILE, HOSTILE, QUOTED, hostile_frame, write_hostile


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """Two tables and a fit of the hostile one, with a forbidden edge and refits."""
    path = write_hostile(tmp_path_factory.mktemp("tables"))
    with serving(path, "--max-upload", "1") as bench:
        bench.wait_for_table()
        bench.ask("api/tables/1/knowledge", {"edit": "forbid", "names": [QUOTED, HOSTILE]})
        bench.learn(left_out=["group"], parameters={"missing": "drop", "weight_threshold": "0.2"})
        yield bench


def raw(bench, request):
    """The status of an answer to a request that is written by hand."""
    host, port = urllib.parse.urlsplit(bench.address).netloc.split(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(request.encode())
        return connection.recv(4096).decode().split()[1]


def test_only_who_knows_the_token_is_let_in(bench):
    base, token = bench.address.rstrip("/").rsplit("/", 1)
    for path in ("", "/api/state", f"/{token[:-1]}/api/state", f"/{token}x/api/state", "/index.html"):
        assert Bench(bench.process, base, bench.root).refusal(path)[0] == 403
    assert bench.ask("api/state")["fits"]


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1", "https://127.0.0.1:{port}"])
def test_pages_of_other_origins_are_refused(bench, origin):
    port = urllib.parse.urlsplit(bench.address).port
    headers = {"Origin": origin.format(port=port)}
    assert bench.refusal("api/state", headers=headers)[0] == 403
    assert bench.refusal("api/fits", message={"table": 1, "method": "pc"}, headers=headers)[0] == 403
    assert bench.ask("api/state", headers={"Origin": f"http://127.0.0.1:{port}"})["fits"]


@pytest.mark.parametrize(
    "host", ["evil.example:{port}", "evil.example", "127.0.0.1", "127.0.0.1.evil.example:{port}", ""]
)
def test_other_hosts_are_refused(bench, host):
    parts = urllib.parse.urlsplit(bench.address)
    path = f"{parts.path}api/state"
    request = f"GET {path} HTTP/1.1\r\nHost: {host.format(port=parts.port)}\r\nConnection: close\r\n\r\n"
    assert raw(bench, request) in ("403", "400")
    right = f"GET {path} HTTP/1.1\r\nHost: localhost:{parts.port}\r\nConnection: close\r\n\r\n"
    assert raw(bench, right) == "200"


def test_answers_forbid_foreign_code(bench):
    with urllib.request.urlopen(bench.address) as response:
        policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
    with urllib.request.urlopen(f"{bench.address}api/fits/1/report") as response:
        assert "sandbox" in response.headers["content-security-policy"]
        assert "default-src 'none'" in response.headers["content-security-policy"]
        page = response.read().decode()
    assert HOSTILE not in page and "&lt;script&gt;document.title" in page


def test_files_outside_of_the_page_are_not_served(bench):
    for path in ("../server.py", "..%2fserver.py", "%2e%2e/server.py", "api/fits/1/files/..%2f..%2fabout.json"):
        assert bench.refusal(path)[0] in (400, 403, 404)


def test_too_large_a_file_is_refused_and_leaves_nothing(bench):
    status, words = bench.refusal("api/tables?name=x.csv", message=b"a,b\n" + b"1,2\n" * 300_000, method="PUT")
    assert (status, "larger than 1 MB" in words, "--max-upload" in words) == (413, True, True)
    parts = urllib.parse.urlsplit(bench.address)
    head = (
        f"PUT {parts.path}api/tables?name=x.csv HTTP/1.1\r\nHost: {parts.netloc}\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    chunk = "80000\r\n" + "1" * 0x80000 + "\r\n"
    assert raw(bench, head + 3 * chunk + "0\r\n\r\n") == "413"
    wait_for(lambda: not list((bench.root / "incoming").iterdir()), "the file was removed")


def test_an_upload_that_breaks_off_leaves_nothing(bench):
    parts = urllib.parse.urlsplit(bench.address)
    n_tables = len(bench.ask("api/state")["tables"])
    with socket.create_connection((parts.hostname, parts.port)) as connection:
        lines = [
            f"PUT {parts.path}api/tables?name=x.csv HTTP/1.1",
            f"Host: {parts.netloc}",
            "Content-Length: 100",
            "",
            "a",
        ]
        connection.sendall("\r\n".join(lines).encode())
        wait_for(lambda: list((bench.root / "incoming").iterdir()), "the file arrives")
    wait_for(lambda: not list((bench.root / "incoming").iterdir()), "the file was removed")
    assert len(bench.ask("api/state")["tables"]) == n_tables


def test_names_that_lead_elsewhere_are_texts(bench):
    name = urllib.parse.quote("../../../evil.csv", safe="")
    number = bench.ask(f"api/tables?name={name}", message=b"a,b\n1,2\n", method="PUT")["id"]
    assert bench.wait_for_table(number)["name"] == "evil.csv"
    assert (bench.root / "tables" / str(number) / "data.csv").exists()
    assert bench.refusal("api/tables?name=evil.py", message=b"import os", method="PUT")[0] == 400


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"table": 99, "method": "pc"}, "no table 99"),
        ({"table": 1, "method": "pcc"}, "did you mean"),
        ({"table": 1, "method": "pc", "parameters": {"alpha": "2"}}, "'alpha' must be a number at least 0"),
        ({"table": 1, "method": "pc", "parameters": {"knowledge": "/etc/passwd"}}, "no option"),
        ({"table": 1, "method": "pc", "parameters": {"random_state": "1"}}, "no option"),
        ({"table": 1, "method": "pc", "preset": "slow"}, "must be one of"),
        ({"table": 1, "method": "pc", "left_out": [HOSTILE, QUOTED, "c", "group"]}, "at least two columns"),
        ({"method": "pc"}, "lacks 'table'"),
        ([1], "object"),
    ],
)
def test_wishes_that_make_no_sense_are_refused_in_words(bench, message, words):
    n_fits = len(bench.ask("api/state")["fits"])
    status, sentence = bench.refusal("api/fits", message=message)
    assert (status, words in sentence) == (400, True), sentence
    assert len(bench.ask("api/state")["fits"]) == n_fits


def test_methods_and_options_are_those_of_the_library(bench):
    from grandag.methods.registry import METHODS, options_of

    methods = {method["name"]: method for method in bench.ask("api/choices")["methods"]}
    assert list(methods) == list(METHODS)
    for name, method in methods.items():
        declared = {key: some.description for key, some in options_of(name).items() if key != "knowledge"}
        assert {option["name"]: option["help"] for option in method["options"]} == declared


@pytest.mark.parametrize("ending", ["json", "dot", "dagitty", "gml", "graphml", "csv", "npy"])
def test_the_graph_in_every_format(bench, ending, tmp_path):
    path = tmp_path / f"graph.{ending}"
    path.write_bytes(
        bench.ask(f"api/fits/1/files/graph.{ending}", method="GET")
        if ending != "json"
        else json.dumps(bench.ask("api/fits/1/files/graph.json")).encode()
    )
    adjacency, _ = read_graph(path)
    assert adjacency.sum() == len(bench.ask("api/fits/1")["edges"])


def test_drawings_model_and_knowledge_can_be_taken_away(bench, tmp_path):
    assert bench.ask("api/fits/1/files/graph.svg").startswith(b"<svg")
    assert bench.ask("api/fits/1/files/graph.png").startswith(b"\x89PNG")
    (tmp_path / "model.npz").write_bytes(bench.ask("api/fits/1/files/model.npz"))
    model = load(tmp_path / "model.npz")
    assert {tuple(edge) for edge in model.edges_[["source", "target"]].to_numpy()} == edges_of(bench, 1)
    (tmp_path / "knowledge.toml").write_bytes(bench.ask("api/tables/1/knowledge.toml"))
    assert Knowledge.read(tmp_path / "knowledge.toml").forbidden == ((QUOTED, HOSTILE),)


def edges_of(bench, number):
    return {(edge["source"], edge["target"]) for edge in bench.ask(f"api/fits/{number}")["edges"]}


def test_script_and_command_learn_the_same_graph(bench, tmp_path, monkeypatch):
    hostile_frame().to_csv(tmp_path / FILE, index=False)
    found = bench.ask("api/fits/1/recipe")
    monkeypatch.chdir(tmp_path)
    namespace = {}
    exec(found["script"], namespace)
    model = namespace["model"]
    facts = bench.ask("api/fits/1")["edges"]
    assert model.edges_.to_dict(orient="records") == [
        {name: edge[name] for name in model.edges_.columns} for edge in facts
    ]
    (tmp_path / "grandag").write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "from grandag.cli import main; main()" "$@"\n'
    )
    (tmp_path / "grandag").chmod(0o755)
    path = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run(["sh", "-e"], input=found["command"], text=True, check=True, env=path, capture_output=True)
    written = pd.read_csv(tmp_path / "results" / "edges.csv").to_dict(orient="records")
    strengths = {(edge["source"], edge["target"]): pytest.approx(edge["strength"]) for edge in facts}
    assert {(edge["source"], edge["target"]): edge["strength"] for edge in written} == strengths


def test_simulated_tables_know_their_truth_and_their_recipe(bench, tmp_path, monkeypatch):
    options = {"mechanism": "lin", "n_nodes": 4, "n_rows": 60, "seed": 3}
    number = bench.ask("api/tables", {"simulation": options})["id"]
    assert bench.wait_for_table(number)["has_truth"]
    fit = bench.learn(table=number, method="pc")
    assert bench.ask(f"api/fits/{fit['id']}/compare/truth")["score"]["n_nodes"] == 4
    found = bench.ask(f"api/fits/{fit['id']}/recipe")
    monkeypatch.chdir(tmp_path)
    namespace = {}
    exec(found["script"], namespace)
    assert {tuple(pair) for pair in namespace["model"].edges_[["source", "target"]].to_numpy()} == edges_of(
        bench, fit["id"]
    )
    simulate, learn = found["command"].splitlines()
    assert run(*simulate.split()[1:]).returncode == 0
    assert "simulated/data.csv" in learn
    again = pd.read_csv("simulated/data.csv")
    np.testing.assert_array_equal(again, pd.read_csv(bench.root / "tables" / str(number) / "data.csv"))


def test_a_true_graph_can_be_given(bench):
    truth = json.dumps({"nodes": [HOSTILE, QUOTED, "c", "d"], "edges": [[HOSTILE, QUOTED], [QUOTED, "c"], ["c", "d"]]})
    dot = f'digraph {{ {json.dumps(HOSTILE)} -> {json.dumps(QUOTED)} -> "c" -> "d" }}'
    assert bench.refusal("api/tables/1/truth?name=truth.json", message=b"nonsense", method="PUT")[0] == 400
    bench.ask("api/tables/1/truth?name=truth.dot", message=dot.encode(), method="PUT")
    found = bench.ask("api/fits/1/compare/truth")
    assert found["score"]["n_true_edges"] == 3, truth
    assert {edge["difference"] for edge in found["edges"]} <= {"found", "extra", "missing", "reversed"}


def test_refits_give_frequencies_and_intervals(bench):
    bench.ask("api/fits/1/refits", {"resamples": 4, "kind": "bootstrap"})
    fit = bench.wait_for_fit(1, "refits")
    assert (fit["refits"], fit["n_resamples"]) == ("done", 4)
    edges = bench.ask("api/fits/1")["edges"]
    assert all(0 <= edge["frequency"] <= 1 for edge in edges)
    cause, effect = edges[0]["source"], edges[0]["target"]
    found = bench.ask("api/fits/1/changes", {"values": {cause: 1.0}, "with_interval": True})
    means = next(variable["means"] for variable in found["variables"] if variable["name"] == effect)
    assert found["n_refits"] == 4
    assert means["low"] <= means["high"]
    assert means["change"] == pytest.approx(means["after"] - means["before"])


def test_an_intervention_is_that_of_the_model(bench, tmp_path):
    (tmp_path / "model.npz").write_bytes(bench.ask("api/fits/1/files/model.npz"))
    model = load(tmp_path / "model.npz").model_
    found = bench.ask("api/fits/1/changes", {"values": {"c": 2.0, HOSTILE: 1.0}})
    after = {variable["name"]: variable["means"]["after"] for variable in found["variables"]}
    assert after["c"] == 2.0 and after[HOSTILE] == 1.0
    linear = model.intervene({"c": 2.0, HOSTILE: 1.0}).mean()  # exact for linear models, whatever the draws
    assert after == pytest.approx(linear.to_dict())
    assert bench.refusal("api/fits/1/changes", message={"values": {"z": 1.0}})[0] == 400
    far = bench.ask("api/fits/1/changes", {"values": {"c": 1e6}})
    assert "outside of the data" in far["warnings"][0]


def children(process):
    """The processes that a server has started."""
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True, check=False
    )
    return [int(word) for word in listed.stdout.split()]


def start_a_long_fit(bench, table=1):
    """A fit that goes on for minutes, and its number once it runs."""
    wishes = {"table": table, "method": "grandag", "parameters": {"max_iterations": "100000000", "tolerance": "1e-300"}}
    number = bench.ask("api/fits", wishes)["id"]
    wait_for(lambda: bench.ask("api/state")["running"].get("stage") == "train", "the fit trains")
    return number


def test_stops_crashes_queue_and_the_end_of_the_server(tmp_path):
    with serving("sachs") as bench:
        bench.wait_for_table()
        done = bench.learn(method="pc")["id"]
        crashing = start_a_long_fit(bench)
        waiting = bench.ask("api/fits", {"table": 1, "method": "pc", "seed": 5})["id"]
        assert bench.fit(waiting)["status"] == "waiting"
        for child in children(bench.process):
            os.kill(child, signal.SIGKILL)
        assert "killed" in bench.wait_for_fit(crashing)["message"]
        assert bench.wait_for_fit(waiting)["status"] == "done"
        assert bench.ask(f"api/fits/{done}/graph")["edges"]
        stopped = start_a_long_fit(bench)
        queued = bench.ask("api/fits", {"table": 1, "method": "pc"})["id"]
        bench.ask(f"api/fits/{queued}/stop", {})
        assert bench.fit(queued)["status"] == "stopped"
        bench.ask(f"api/fits/{stopped}/stop", {})
        assert bench.wait_for_fit(stopped)["status"] in ("stopped", "done")
        assert bench.refusal(f"api/fits/{queued}/graph")[1] == f"Fit {queued} has no graph."
        start_a_long_fit(bench)
        workers = children(bench.process)
        assert workers
        root, began = bench.root, time.monotonic()
    assert time.monotonic() - began < 100
    assert bench.process.returncode == 0
    assert not root.exists()
    wait_for(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers), "the fit ended with the server")


def test_a_killed_server_loses_nothing_that_was_finished(tmp_path):
    with serving("sachs", "--workspace", tmp_path / "kept") as bench:
        bench.wait_for_table()
        bench.learn(method="pc")
        found = edges_of(bench, 1)
        start_a_long_fit(bench)
        workers = children(bench.process)
        bench.kill()
    wait_for(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers), "the fit ended with the server")
    with serving(tmp_path / "kept") as bench:
        assert [fit["status"] for fit in bench.ask("api/state")["fits"]] == ["done", "stopped"]
        assert edges_of(bench, 1) == found
        assert bench.learn(method="pc")["status"] == "done"
    assert (tmp_path / "kept" / "fits" / "3" / "result" / "model.npz").exists()


@pytest.mark.slow
def test_fifty_requests_at_once_while_a_fit_runs():
    """Claimed in seconds, and so not in the suite, which must not depend on how fast a machine is."""
    with serving("sachs") as bench:
        bench.wait_for_table()
        bench.learn(method="pc")
        start_a_long_fit(bench)
        paths = ["api/state", "api/fits/1", "api/fits/1/graph", "api/tables/1", "api/choices"] * 10

        def seconds(path):
            start = time.monotonic()
            bench.ask(path)
            return time.monotonic() - start

        with concurrent.futures.ThreadPoolExecutor(50) as pool:
            taken = list(pool.map(seconds, paths))
    print(f"slowest of {len(taken)} answers: {max(taken):.2f} s")
    assert max(taken) < 1


@pytest.mark.slow
def test_two_hundred_megabytes_take_no_more_memory_than_three_tables(tmp_path):
    path = tmp_path / "long.csv"
    values = np.random.default_rng(0).normal(size=(1 << 14, 10))
    block = "".join(",".join(f"{value:.15f}" for value in row) + "\n" for row in values).encode()
    with path.open("wb") as file:
        file.write((",".join(f"x{k}" for k in range(10)) + "\n").encode())
        while file.tell() < 200_000_000:
            file.write(block)
    with serving() as bench:
        before = highest_memory(bench.process.pid)
        number = bench.ask("api/tables?name=long.csv", message=path.read_bytes(), method="PUT")["id"]
        highest = [0]

        def look():
            highest[0] = max(highest[0], *(highest_memory(child) for child in children(bench.process)), 0)
            return bench.ask("api/state")["tables"][0]["status"] in ("done", "failed")

        wait_for(look, "the table was read", 600)
        assert bench.wait_for_table(number)["status"] == "done"
        after = highest_memory(bench.process.pid)
    print(f"server {before / 1e6:.0f} to {after / 1e6:.0f} MB, the process that reads {highest[0] / 1e6:.0f} MB")
    assert after - before < 50e6
    assert highest[0] < 3 * path.stat().st_size


def highest_memory(pid):
    """The most memory that a process had, in bytes; 0 if it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)
    except OSError:
        return 0


def test_other_hosts_are_served_with_a_warning(tmp_path):
    program = [
        sys.executable,
        "-c",
        "from grandag.cli import main; main()",
        "serve",
        "--no-browser",
        "--host",
        "0.0.0.0",
    ]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().startswith("Workbench: http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        words = process.stderr.read()
    assert "Warning: 0.0.0.0 can be reached by other machines" in words


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.csv"], "There is no file"),
        (["table.exe"], "convert the file"),
        (["."], "without a workspace"),
        (["sachs", "--port", "{port}"], "choose another --port"),
    ],
)
def test_what_cannot_be_served_is_said_in_a_sentence(bench, arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    port = urllib.parse.urlsplit(bench.address).port
    result = run("serve", "--no-browser", *(argument.format(port=port) for argument in arguments))
    assert (result.returncode, words in result.stderr, "Traceback" in result.stderr) == (1, True, False), result.stderr


def test_bundled_tables_are_there_once(bench):
    names = [name for name in datasets.DATASETS if name not in datasets.WITH_INTERVENTIONS]
    numbers = [bench.ask("api/tables", {"bundled": name})["id"] for name in names * 2]
    assert numbers[: len(names)] == numbers[len(names) :]
    assert bench.refusal("api/tables", message={"bundled": "nothing"})[0] == 400
    for name in datasets.WITH_INTERVENTIONS:
        code, reason = bench.refusal("api/tables", message={"bundled": name})
        assert code == 400 and "learns from no interventions" in str(reason)
