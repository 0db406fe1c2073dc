#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the collector's matrix on a machine with a GPU: counts, ends, faults, overhead.

Usage: run.py FOLDER OUT
FOLDER holds kerf-record, libkerf-inject.so, workload (built of workload.cu) and decode.py.
OUT gets results.json and two small recordings. Needs PyTorch for the parts that compare with its profiler.
"""
import json
import os
import pathlib
import re
import resource
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile

FOLDER, OUT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
SCRATCH = pathlib.Path(tempfile.mkdtemp())
RESULTS = {"matrix": [], "overhead": {}, "long": {}}


def program(*arguments):
    name = arguments[0]
    return [sys.executable, str(FOLDER / name), *arguments[1:]] if name.endswith(".py") \
        else [str(FOLDER / name), *arguments[1:]]


def plain(*arguments):
    return subprocess.run(program(*arguments), capture_output=True, text=True)


def record(name, *arguments, options=(), shell=None):
    path = SCRATCH / f"{name}.kerfrec"
    command = [str(FOLDER / "kerf-record"), "-o", str(path), *options, "--"]
    command += shell if shell else program(*arguments)
    return path, subprocess.run(command, capture_output=True, text=True)


def count(path, sql):
    with sqlite3.connect(path) as file:
        return file.execute(sql).fetchone()[0]


def lost(path):
    with sqlite3.connect(path) as file:
        return dict(file.execute("SELECT cause, count FROM health WHERE count > 0"))


def check(what, good, seen=""):
    RESULTS["matrix"].append({"what": what, "pass": bool(good), "seen": str(seen)})
    print(f"{'pass' if good else 'FAIL'}  {what}  {seen}", flush=True)


QUERIES = {
    "kernels": "SELECT COUNT(*) FROM kernels",
    "copies": "SELECT COUNT(*) FROM copies",
    "memsets": "SELECT COUNT(*) FROM memsets",
    "graph_nodes": "SELECT COUNT(*) FROM graph_nodes",
    "graph_edges": "SELECT COUNT(*) FROM graph_edges",
    "programmatic_edges": "SELECT COUNT(*) FROM graph_edges WHERE type = 1",
    "annotations": "SELECT COUNT(*) FROM markers WHERE flags & 2",
}


def counts():
    for arguments in (["branches", "20"], ["launches", "1000"], ["threads", "8", "5000"],
                      ["empty", "500", "100"]):
        name = "-".join(arguments)
        path, run = record(name, "workload", *arguments)
        expected = {w: int(n) for w, n in re.findall(r"expect (\w+) (\d+)", run.stdout)}
        found = {what: count(path, QUERIES[what]) for what in expected}
        check(f"counts of {' '.join(arguments)}", run.returncode == 0 and found == expected, found)
    path, run = record("spawn", "workload", "spawn")
    children = list(SCRATCH.glob("spawn.*.kerfrec"))
    found = (count(path, QUERIES["kernels"]), [count(c, QUERIES["kernels"]) for c in children])
    check("a child process has a file of its own", found == (10, [20]), found)
    path, _ = record("graph", "workload", "empty", "500", "100", options=["--graph-trace=graph"])
    found = count(path, "SELECT COUNT(*) FROM graph_launches")
    check("launches of graphs as a whole", found == 101, found)
    for option, wanted in (("--nvtx-range=wanted", 50), ("--profiler-api", 25)):
        path, _ = record(option.strip("-").split("=")[0], "workload", "ranges", options=[option])
        found = count(path, QUERIES["kernels"])
        check(f"{option}: kernels in between", found == wanted, found)


def ends():
    for way, code in (("exit", 7), ("_exit", 8), ("abort", -signal.SIGABRT),
                      ("throw", -signal.SIGABRT), ("sigterm", -signal.SIGTERM),
                      ("sigkill", -signal.SIGKILL), ("fork", 0)):
        alone = plain("workload", "end", way)
        path, run = record("end" + way, "workload", "end", way)
        kernels = count(path, QUERIES["kernels"])
        same = run.returncode == alone.returncode == code and run.stdout == alone.stdout
        check(f"ends by {way}", same and kernels == 1000, f"{run.returncode}, {kernels} kernels")


def faults():
    _, run = record("x/y/z", "workload", "end", "exit")
    check("path that cannot be written", run.returncode == 7 and "cannot" in run.stderr,
          run.stderr.strip().splitlines()[0])
    command = f"ulimit -f 1024; exec {FOLDER / 'workload'} launches 300000"
    path, run = record("full", shell=["bash", "-c", command])
    check("disk full", run.returncode == 0 and "writing" in run.stderr,
          f"{count(path, QUERIES['kernels'])} kernels kept; {run.stderr.strip().splitlines()[0]}")
    _, run = record("absent", "workload", "end", "exit", options=["--cupti", "/no/libcupti.so"])
    check("no CUPTI", run.returncode == 7 and "CUPTI was not found" in run.stderr, run.returncode)
    path, run = record("kineto", "decode.py", "50", "kineto")
    check("a second profiler in the process: the program runs on", run.returncode == 0,
          (run.stderr.strip().splitlines() or ["silent"])[-1][:120])


def us_per_step(output):
    return float(re.search(r"us_per_(?:step|node) ([\d.]+)", output).group(1))


def overhead():
    tools = {
        "none": lambda *w: plain(*w).stdout,
        "kerf-record, node": lambda *w: record(f"o{len(os.listdir(SCRATCH))}", *w)[1].stdout,
        "kerf-record, graph": lambda *w: record(f"o{len(os.listdir(SCRATCH))}", *w,
                                                options=["--graph-trace=graph"])[1].stdout,
    }
    cases = {"decode step": ("decode.py", "400", "none"),
             "500 tiny kernels": ("decode.py", "400", "none", "tiny"),
             "500 empty kernels (C++), a node": ("workload", "empty", "500", "400")}
    for case, arguments in cases.items():
        seen = {}
        for _ in range(5): # in turn, so that drift hits all alike
            for tool, run in tools.items():
                seen.setdefault(tool, []).append(us_per_step(run(*arguments)))
            if arguments[0] == "decode.py":
                kineto = [a if a != "none" else "kineto" for a in arguments]
                seen.setdefault("PyTorch's profiler", []).append(us_per_step(plain(*kineto).stdout))
        RESULTS["overhead"][case] = {tool: {"median_us": statistics.median(v), "all_us": v}
                                     for tool, v in seen.items()}
        base = statistics.median(seen["none"])
        print(case, {t: f"{statistics.median(v):.2f} us (+{statistics.median(v) / base - 1:.1%})"
                     for t, v in seen.items()}, flush=True)


def long_replay():
    """27 million nodes: CUDA 13.0's CUPTI is said to lose times beyond 25 million."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    path, run = record("long", "workload", "empty", "1000", "27000")
    seconds = float(re.search(r"seconds ([\d.]+)", run.stdout).group(1))
    kernels = count(path, QUERIES["kernels"])
    RESULTS["long"] = {
        "nodes": 27_001_000, "kernels": kernels, "lost": lost(path), "seconds": seconds,
        "kernels_per_s": kernels / seconds, "bytes_a_kernel": path.stat().st_size / max(kernels, 1),
        "max_rss_kb": max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)}
    print("long", RESULTS["long"], flush=True)
    path.unlink()


def samples():
    path, _ = record("branches-sample", "workload", "branches", "3",
                     options=["--model", "branches", "--batch", "1"])
    path.rename(OUT / "branches.kerfrec")
    path, _ = record("decode-sample", "decode.py", "4", options=[
        "--model", "small-decode", "--batch", "4", "--passes=untraced,node"])
    path.rename(OUT / "decode.kerfrec")


try:
    for part in (counts, ends, faults, samples, overhead, long_replay):
        part()
finally:
    (OUT / "results.json").write_text(json.dumps(RESULTS, indent=1))
    failed = sum(not row["pass"] for row in RESULTS["matrix"])
    print(f"{len(RESULTS['matrix']) - failed} passed, {failed} failed")
