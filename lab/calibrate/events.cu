// SPDX-License-Identifier: GPL-3.0-or-later
// Signals between SMs: one way, fan-in, many observers, the grid barrier.
#include "lab/calibrate/bench.h"
#include "lab/common/sync.cuh"

#include <algorithm>

namespace kerf::lab {
namespace {

constexpr int kFewRounds = 200;
constexpr int kManyRounds = 1200;
/// Places to keep counters: an SM is nearer to some parts of L2 than to others.
constexpr int kLines = 64;
constexpr int kLinesPerFigure = 5;

/// Block 0 and block `partner` hand a signal back and forth; the other blocks do nothing.
__global__ void pingPong(unsigned* counters, unsigned partner, unsigned rounds, unsigned* fault) {
    unsigned* there = counters;
    unsigned* back = counters + kCounterStride;
    for (unsigned round = 1; round <= rounds; ++round) {
        if (blockIdx.x == 0) {
            addRelease(there, 1);
            waitAtLeast(back, round, fault);
        } else if (blockIdx.x == partner) {
            waitAtLeast(there, round, fault);
            addRelease(back, 1);
        }
    }
}

/// Block 0 signals; all others poll for it; the first `answering` of them signal back into one
/// counter, for which block 0 waits.
__global__ void callAndAnswer(unsigned* counters, unsigned answering, unsigned rounds,
                              unsigned* fault) {
    unsigned* call = counters;
    unsigned* answers = counters + kCounterStride;
    for (unsigned round = 1; round <= rounds; ++round) {
        if (blockIdx.x == 0) {
            addRelease(call, 1);
            waitAtLeast(answers, round * answering, fault);
        } else {
            waitAtLeast(call, round, fault);
            if (blockIdx.x <= answering) {
                addRelease(answers, 1);
            }
        }
    }
}

/// One counter for all blocks. Of a block of many threads all wait for the block's last one first,
/// and all for its waiting thread after.
__global__ void gridBarrier(unsigned* counter, unsigned rounds, unsigned* fault) {
    for (unsigned round = 1; round <= rounds; ++round) {
        __syncthreads();
        if (threadIdx.x == 0) {
            addRelease(counter, 1);
            waitAtLeast(counter, round * gridDim.x, fault);
        }
        __syncthreads();
    }
}

class Events {
public:
    explicit Events(Bench& bench) : bench_(bench), lines_(2 * kCounterStride * kLines) {
        allowRing(pingPong);
        allowRing(callAndAnswer);
        allowRing(gridBarrier);
    }

    /// Each partner with counters in another place.
    Summary oneWay(unsigned partner) {
        unsigned* counters = line(static_cast<int>(partner));
        const Summary round = roundUs([&](unsigned rounds) {
            pingPong<<<bench_.sms, 1, kRingBytes, bench_.stream.get()>>>(counters, partner, rounds,
                                                                         bench_.watchdog.flag());
        });
        return {round.median / 2, round.spread / 2, round.count};
    }
    Summary callUs(int pollers, int answering) {
        return overLines([&](unsigned* counters, unsigned rounds) {
            callAndAnswer<<<pollers + 1, 1, kRingBytes, bench_.stream.get()>>>(
                counters, static_cast<unsigned>(answering), rounds, bench_.watchdog.flag());
        });
    }
    Summary barrierUs(int workers, int threads) {
        return overLines([&](unsigned* counters, unsigned rounds) {
            gridBarrier<<<workers, threads, kRingBytes, bench_.stream.get()>>>(
                counters, rounds, bench_.watchdog.flag());
        });
    }

private:
    unsigned* line(int index) {
        return lines_.data() + std::size_t{2} * kCounterStride * (index % kLines);
    }
    /// Median over several places of the counters, and the spread between them.
    template <class Launch> Summary overLines(const Launch& launch) {
        std::vector<double> medians;
        for (int i = 0; i < kLinesPerFigure; ++i) {
            unsigned* counters = line(i * (kLines / kLinesPerFigure));
            medians.push_back(roundUs([&](unsigned rounds) { launch(counters, rounds); }).median);
        }
        return summarise(medians);
    }
    template <class Launch> Summary roundUs(const Launch& launch) {
        const Summary us = slopeUs(bench_, kFewRounds, kManyRounds, [&](int rounds) {
            lines_.clear(bench_.stream.get());
            return bench_.stream.elapsedUs([&] { launch(static_cast<unsigned>(rounds)); });
        });
        bench_.watchdog.check("signals between SMs");
        return us;
    }

    Bench& bench_;
    DeviceArray<unsigned> lines_;
};

void measureOneWay(Bench& bench, Events& events) {
    std::vector<double> medians;
    Series by_partner{"event_one_way_us_by_partner",
                      "partner block",
                      "us",
                      {},
                      "block 0 and one other, half of a round trip"};
    for (int partner = 1; partner < bench.sms; partner += bench.found.environment.quick ? 16 : 1) {
        const Summary one_way = events.oneWay(static_cast<unsigned>(partner));
        by_partner.points.push_back({double(partner), one_way});
        medians.push_back(one_way.median);
    }
    bench.add("event_one_way_us", "us", summarise(medians),
              "a release-add on one SM until an acquire-load on another sees it, half of a round "
              "trip; median over partners and places of the counters, spread between them");
    bench.found.series.push_back(by_partner);
}

} // namespace

void measureEvents(Bench& bench) {
    Events events(bench);
    measureOneWay(bench, events);

    Series observe{"call_us_by_pollers",
                   "pollers",
                   "us",
                   {},
                   "one signal polled by n SMs, one of which answers: a round trip"};
    Series fan_in{"call_us_by_answers",
                  "pollers",
                  "us",
                  {},
                  "one signal polled by n SMs, all of which answer into one counter: a round trip"};
    for (const int pollers : {1, 2, 4, 8, bench.sms / 8, bench.sms / 4, bench.sms / 2,
                              bench.sms * 3 / 4, bench.sms - 1}) {
        observe.points.push_back({double(pollers), events.callUs(pollers, 1)});
        fan_in.points.push_back({double(pollers), events.callUs(pollers, pollers)});
    }
    Series barrier{"barrier_us_by_workers",
                   "workers",
                   "us",
                   {},
                   "grid barrier on one counter, one block an SM, one thread a block"};
    Series block_barrier{"block_barrier_us_by_workers",
                         "workers",
                         "us",
                         {},
                         "the same with blocks of 288 threads and a block barrier on either side"};
    for (const int workers : {2, 8, bench.sms / 4, bench.sms / 2, bench.sms}) {
        barrier.points.push_back({double(workers), events.barrierUs(workers, 1)});
        block_barrier.points.push_back(
            {double(workers), events.barrierUs(workers, kWorkerThreads)});
    }
    bench.found.series.insert(bench.found.series.end(), {observe, fan_in, barrier, block_barrier});
}

} // namespace kerf::lab
