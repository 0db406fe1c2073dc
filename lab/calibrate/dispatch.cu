// SPDX-License-Identifier: GPL-3.0-or-later
// What it takes a worker to get its next tile: from its own queue, or from one that all share.
#include "lab/calibrate/bench.h"
#include "lab/common/lab_error.h"
#include "lab/common/sync.cuh"

namespace kerf::lab {
namespace {

constexpr int kFewTiles = 200;
constexpr int kManyTiles = 1200;
constexpr long long kTileCycles = 1000; ///< stands for a tile's work: about half a microsecond

enum class Queue { None, OnDemand, ReadAhead, Dynamic };

__device__ void work() {
    const long long begin = clock64();
    while (clock64() - begin < kTileCycles) {
    }
}

/// A slot holds the number of its tile. `slots`: gridDim.x * tiles static ones, worker by worker.
template <Queue queue>
__global__ void takeTiles(const int4* slots, int tiles, unsigned* popped,
                          unsigned long long* checksum) {
    __shared__ int4 slot[2];
    const int4* own = slots + std::size_t{blockIdx.x} * kManyTiles;
    unsigned long long sum = 0;
    int4 ahead{};
    if (queue == Queue::ReadAhead && threadIdx.x == 0) {
        ahead = own[0];
    }
    for (int i = 0; i < tiles; ++i) {
        if (queue != Queue::None) {
            if (threadIdx.x == 0) {
                if (queue == Queue::OnDemand) {
                    slot[i % 2] = own[i];
                } else if (queue == Queue::ReadAhead) {
                    slot[i % 2] = ahead;
                    ahead = own[min(i + 1, tiles - 1)];
                } else {
                    slot[i % 2].x = static_cast<int>(atomicAdd(popped, 1u));
                }
            }
            __syncthreads(); // two slots: nobody writes one that another thread still reads
            sum += static_cast<unsigned>(slot[i % 2].x);
        }
        work();
    }
    if (threadIdx.x == kWorkerThreads - 1) {
        atomicAdd(checksum, sum);
    }
}

class Dispatch {
public:
    explicit Dispatch(Bench& bench)
        : bench_(bench), slots_(std::size_t(bench.sms) * kManyTiles), popped_(1), checksum_(1) {
        std::vector<int4> slots(slots_.size());
        for (std::size_t i = 0; i < slots.size(); ++i) {
            slots[i].x = static_cast<int>(i);
        }
        slots_.upload(slots);
    }

    template <Queue queue> Summary tileUs(int workers) {
        allowRing(takeTiles<queue>);
        return slopeUs(bench_, kFewTiles, kManyTiles, [&](int tiles) {
            popped_.clear(bench_.stream.get());
            checksum_.clear(bench_.stream.get());
            const double us = bench_.stream.elapsedUs([&] {
                takeTiles<queue><<<workers, kWorkerThreads, kRingBytes, bench_.stream.get()>>>(
                    slots_.data(), tiles, popped_.data(), checksum_.data());
            });
            if (checksum_.download().front() != expected(queue, workers, tiles)) {
                throw LabError("calibrate: a queue gave a tile twice or not at all");
            }
            return us;
        });
    }

private:
    static unsigned long long expected(Queue queue, int workers, int tiles) {
        const auto sumBelow = [](unsigned long long n) { return n * (n - 1) / 2; };
        unsigned long long sum = 0;
        if (queue == Queue::Dynamic) {
            sum = sumBelow(static_cast<unsigned long long>(workers) * tiles);
        } else if (queue != Queue::None) {
            for (int worker = 0; worker < workers; ++worker) {
                sum += 1ull * worker * kManyTiles * tiles + sumBelow(tiles);
            }
        }
        return sum;
    }

    Bench& bench_;
    DeviceArray<int4> slots_;
    DeviceArray<unsigned> popped_;
    DeviceArray<unsigned long long> checksum_;
};

} // namespace

void measureDispatch(Bench& bench) {
    Dispatch dispatch(bench);
    const Summary bare = dispatch.tileUs<Queue::None>(bench.sms);
    bench.add("dispatch_us", "us", difference(dispatch.tileUs<Queue::ReadAhead>(bench.sms), bare),
              "next slot of a static queue an SM in device memory, read one tile ahead by one "
              "thread, handed on through shared memory and a barrier of 288 threads; less the "
              "same loop of tiles without a queue");
    bench.add("dispatch_on_demand_us", "us",
              difference(dispatch.tileUs<Queue::OnDemand>(bench.sms), bare),
              "the same, the slot read when it is needed");
    Series pop{"queue_pop_us_by_workers",
               "workers",
               "us",
               {},
               "atomic add on one counter by one thread a worker, handed on as above; less the "
               "loop without a queue"};
    for (const int workers : {1, 2, 8, bench.sms / 4, bench.sms / 2, bench.sms}) {
        pop.points.push_back(
            {double(workers), difference(dispatch.tileUs<Queue::Dynamic>(workers), bare)});
    }
    bench.add("queue_pop_us", "us", pop.points.back().y,
              "next tile from one counter that all SMs add to, handed on through shared memory and "
              "a barrier of 288 threads; tiles of 1000 cycles; less the loop without a queue");
    bench.found.series.push_back(pop);
}

} // namespace kerf::lab
