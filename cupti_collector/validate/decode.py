# SPDX-License-Identifier: GPL-3.0-or-later
"""A decode step of a small transformer, or 500 tiny kernels, as a CUDA graph, replayed STEPS times.

Usage: decode.py STEPS [none|kineto] [decode|tiny]. Prints seconds and µs a step while it is recorded, by
PyTorch's own profiler with "kineto".
"""
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile

LAYERS, WIDTH, HEADS, CONTEXT, BATCH = 8, 1024, 16, 256, 4
TINY_NODES = 500


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = torch.nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = torch.nn.Linear(WIDTH, WIDTH, bias=False)
        self.up = torch.nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = torch.nn.Linear(4 * WIDTH, WIDTH, bias=False)
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(WIDTH) for _ in range(2)])
        shape = (BATCH, HEADS, CONTEXT, WIDTH // HEADS)
        self.keys = torch.nn.Buffer(torch.randn(shape))
        self.values = torch.nn.Buffer(torch.randn(shape))

    def forward(self, x):
        q, _, _ = self.qkv(self.norms[0](x)).view(BATCH, HEADS, 1, -1).chunk(3, dim=-1)
        attended = torch.nn.functional.scaled_dot_product_attention(q, self.keys, self.values)
        x = x + self.out(attended.reshape(BATCH, WIDTH))
        return x + self.down(torch.nn.functional.gelu(self.up(self.norms[1](x))))


def main():
    steps = int(sys.argv[1])
    tool = sys.argv[2] if len(sys.argv) > 2 else "none"
    torch.manual_seed(1)
    if len(sys.argv) > 3 and sys.argv[3] == "tiny":
        x = torch.zeros(1, device="cuda")

        def model(value):
            for _ in range(TINY_NODES):
                value.add_(1)
    else:
        model = torch.nn.Sequential(*[Layer() for _ in range(LAYERS)]).to("cuda", torch.bfloat16)
        x = torch.randn(BATCH, WIDTH, device="cuda", dtype=torch.bfloat16)
    with torch.no_grad():
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                model(x)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(x)

    def run(count):
        for i in range(count):
            with torch.cuda.nvtx.range("decode step"):
                graph.replay()
            if i % 16 == 15:
                torch.cuda.synchronize()
        torch.cuda.synchronize()

    run(50)
    if tool == "kineto":
        with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as profiler:
            run(10)
            begin = time.perf_counter()
            run(steps)
            seconds = time.perf_counter() - begin
        events = sum(1 for e in profiler.events() if e.device_type.name == "CUDA")
        print(f"kineto_events {events}")
    else:
        begin = time.perf_counter()
        run(steps)
        seconds = time.perf_counter() - begin
    print(f"seconds {seconds:.4f}")
    print(f"us_per_step {1e6 * seconds / steps:.2f}")


if __name__ == "__main__":
    main()
