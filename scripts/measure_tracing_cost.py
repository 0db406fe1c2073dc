#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures what node-level tracing adds to each node of a CUDA graph, from chains of one operator.

For each chain, graphs of two lengths are replayed untraced (CUDA events) and traced (PyTorch's
profiler). The cost of a traced node is the difference of the two slopes (µs per node), so launch
latency and other constants of a replay cancel. No model and no path to a first output is run.
Usage: measure_tracing_cost.py OUT.json   (needs PyTorch and a GPU)
"""
import json
import statistics
import sys
import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile

LENGTHS = (120, 360)
REPLAYS_UNTRACED = 40
REPLAYS_TRACED = 9
QUEUED = 6


def chains():
    """name -> function(length) that returns (step, nodes per op); every weight is distinct, so cold."""
    device, dtype = "cuda", torch.bfloat16

    def elementwise(numel):
        def make(length):
            x = torch.randn(numel, device=device, dtype=dtype)

            def step():
                for _ in range(length):
                    x.mul_(0.999)

            return step

        return make

    def product(rows, k, batch):
        def make(length):
            distinct = min(length, max(8, int(6e9 / (rows * k * 2))))
            weights = [torch.randn(rows, k, device=device, dtype=dtype) * 0.02 for _ in range(distinct)]
            x = torch.randn(batch, k, device=device, dtype=dtype)
            out = torch.empty(batch, rows, device=device, dtype=dtype)

            def step():
                for i in range(length):
                    torch.mm(x, weights[i % distinct].t(), out=out)

            return step

        return make

    def decode_like(batch):
        """norm, product, elementwise: the mix of a decode layer."""

        def make(length):
            count = length // 3
            weights = [torch.randn(3072, 2048, device=device, dtype=dtype) * 0.02 for _ in range(count)]
            x = torch.randn(batch, 2048, device=device, dtype=dtype)
            gain = torch.ones(2048, device=device, dtype=dtype)
            out = torch.empty(batch, 3072, device=device, dtype=dtype)

            def step():
                for i in range(count):
                    y = F.layer_norm(x, (2048,), gain)
                    torch.mm(y, weights[i].t(), out=out)
                    out.mul_(0.5)

            return step

        return make

    return {
        "elementwise 64 values": elementwise(64),
        "elementwise 132 blocks": elementwise(132 * 512 * 4),
        "elementwise 1056 blocks": elementwise(1056 * 512 * 4),
        "product 3072x2048 batch 1": product(3072, 2048, 1),
        "product 3072x2048 batch 32": product(3072, 2048, 32),
        "product 16384x2048 batch 8": product(16384, 2048, 8),
        "product 2048x2048 batch 512": product(2048, 2048, 512),
        "norm, product, elementwise batch 8": decode_like(8),
        "norm, product, elementwise batch 64": decode_like(64),
    }


def capture(step):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(2):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph


def untraced_us(graph):
    """µs per replay of queued replays. The GPU first sleeps until all launches are queued: a graph
    launched onto an idle stream starts late, by about 0.3 µs a node, which is no cost of its nodes."""
    samples = []
    for _ in range(REPLAYS_UNTRACED):
        start, end = torch.cuda.Event(True), torch.cuda.Event(True)
        torch.cuda._sleep(8_000_000)
        start.record()
        for _ in range(QUEUED):
            graph.replay()
        end.record()
        torch.cuda.synchronize()
        samples.append(start.elapsed_time(end) * 1e3 / QUEUED)
    return samples[5:]


def traced_us(graph):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        for _ in range(REPLAYS_TRACED):
            torch.cuda._sleep(8_000_000)
            graph.replay()
            torch.cuda.synchronize()
    path = Path(tempfile.mkdtemp()) / "trace.json"
    prof.export_chrome_trace(str(path))
    launches = {}
    for event in json.loads(path.read_text())["traceEvents"]:
        if event.get("cat") in ("kernel", "gpu_memset", "gpu_memcpy"):
            launches.setdefault(event["args"]["correlation"], []).append(event)
    spans, nodes, durations, gaps = [], 0, [], []
    for activities in [a for a in launches.values() if len(a) > 1][1:]:
        activities.sort(key=lambda e: e["ts"])
        nodes = len(activities)
        spans.append(activities[-1]["ts"] + activities[-1]["dur"] - activities[0]["ts"])
        durations += [e["dur"] for e in activities]
        gaps += [b["ts"] - a["ts"] - a["dur"] for a, b in zip(activities, activities[1:])]
    return spans, nodes, statistics.median(durations), statistics.median(gaps)


def main():
    rows = []
    for name, make in chains().items():
        row = {"chain": name}
        for length in LENGTHS:
            graph = capture(make(length))
            before = untraced_us(graph)
            spans, nodes, duration, gap = traced_us(graph)
            after = untraced_us(graph)
            row[str(length)] = {
                "nodes": nodes,
                "untraced_us": statistics.median(before + after),
                "untraced_min_us": min(before + after),
                "traced_us": statistics.median(spans),
                "traced_min_us": min(spans),
                "median_kernel_us": duration,
                "median_gap_us": gap,
            }
            del graph
            torch.cuda.empty_cache()
        a, b = (row[str(length)] for length in LENGTHS)
        nodes = b["nodes"] - a["nodes"]
        for key in ("", "_min"):
            slope = {k: (b[f"{k}{key}_us"] - a[f"{k}{key}_us"]) / nodes for k in ("untraced", "traced")}
            row[f"node_untraced{key}_us"] = round(slope["untraced"], 4)
            row[f"node_traced{key}_us"] = round(slope["traced"], 4)
            row[f"tracing_us_per_node{key}"] = round(slope["traced"] - slope["untraced"], 4)
        rows.append(row)
        print(name, {k: v for k, v in row.items() if "node" in k}, a["median_kernel_us"], a["median_gap_us"], flush=True)
    result = {
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "what": __doc__.strip().splitlines()[0],
        "chain_lengths": LENGTHS,
        "rows": rows,
    }
    Path(sys.argv[1]).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
