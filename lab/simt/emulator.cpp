// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab/simt/emulator.h"

#include "lab/common/lab_error.h"
#include "lab/model/bfloat16.h"
#include "lab/simt/emulated.h"

#include <algorithm>
#include <array>
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace kerf::lab::simt {
namespace {

constexpr unsigned kLanes = 32;
constexpr std::size_t kStackBytes = 128 * 1024;
constexpr std::size_t kMostWords = 6;
/// Rounds over all warps in which nothing moves before the grid counts as stuck.
constexpr std::uint64_t kQuietRounds = 64;

enum class WarpCall : std::uint8_t { None, Sync, Shuffle, ShuffleXor, Multiply };

using Words = std::array<std::uint32_t, kMostWords>;

struct Warp;

struct Lane {
    boost::context::fiber fiber; ///< the thread, while the scheduler runs
    boost::context::fiber back;  ///< the scheduler, while the thread runs
    Warp* warp = nullptr;
    unsigned lane = 0;
    unsigned thread = 0;
    unsigned block = 0;
    bool done = false;
    bool blocked = false;        ///< in a warp-wide call or at a barrier
    const char* waits = nullptr; ///< for the message when the grid is stuck
};

struct Warp {
    std::array<Lane, kLanes> lanes;
    /// Two sets: a lane may already be in the next call while others still read this one's words.
    std::array<std::array<Words, kLanes>, 2> words{};
    std::uint64_t calls = 0;
    unsigned arrived = 0;
    WarpCall call = WarpCall::None;
};

struct NamedBarrier {
    std::vector<Lane*> waiting;
};

struct PhaseBarrier {
    unsigned arrivals = 0;
    unsigned pending = 0;
    std::int64_t bytes = 0;
    std::uint64_t phase = 0;
};

struct Copy {
    void* to;
    const void* from;
    unsigned bytes;
    std::uint64_t* barrier;
};

class Grid {
public:
    Grid(const GridShape& shape, std::uint64_t seed, const std::function<void(std::byte*)>& kernel)
        : shape_(shape), random_(seed), kernel_(kernel) {}

    RunCounts run();

    Lane& lane() { return *running_; }
    const GridShape& shape() const { return shape_; }
    void pause() {
        Lane& self = *running_;
        self.back = std::move(self.back).resume();
    }
    void moved() { quiet_ = 0; }
    /// Meets the other lanes of the warp; their words then hold until this lane's next call.
    const std::array<Words, kLanes>& meet(WarpCall call, const Words& words);
    void syncThreads(unsigned barrier, unsigned threads);
    PhaseBarrier& phaseBarrier(std::uint64_t* barrier);
    void initBarrier(std::uint64_t* barrier, unsigned arrivals) {
        phase_barriers_[barrier] = {arrivals, arrivals, 0, 0};
    }
    void change(std::uint64_t* barrier, unsigned arrivals, std::int64_t bytes);
    void start(const Copy& copy);
    template <class Condition> void wait(const char* what, Condition&& holds) {
        running_->waits = what;
        while (!holds()) {
            pause();
        }
        running_->waits = nullptr;
        moved();
    }
    std::uint64_t now() const { return counts_.switches; }

private:
    void land(std::size_t index);
    void resume(Lane& lane);
    [[noreturn]] void stuck() const;

    GridShape shape_;
    std::mt19937_64 random_;
    const std::function<void(std::byte*)>& kernel_;
    std::vector<std::unique_ptr<Warp>> warps_;
    std::vector<std::vector<std::byte>> shared_;
    std::map<std::pair<unsigned, unsigned>, NamedBarrier> named_; ///< by block and number
    std::unordered_map<std::uint64_t*, PhaseBarrier> phase_barriers_;
    std::vector<Copy> copies_;
    Lane* running_ = nullptr;
    std::string failure_;
    std::uint64_t quiet_ = 0;
    RunCounts counts_;
};

thread_local Grid* grid = nullptr;

const std::array<Words, kLanes>& Grid::meet(WarpCall call, const Words& words) {
    Lane& self = *running_;
    Warp& warp = *self.warp;
    if (warp.arrived > 0 && warp.call != call) {
        throw LabError("emulator: block " + std::to_string(self.block) + ", thread " +
                       std::to_string(self.thread) +
                       ": lanes of a warp meet in different warp-wide calls");
    }
    warp.call = call;
    auto& slots = warp.words[warp.calls % 2];
    slots[self.lane] = words;
    if (++warp.arrived == kLanes) {
        warp.arrived = 0;
        ++warp.calls;
        for (Lane& other : warp.lanes) {
            other.blocked = false;
        }
        moved();
    } else {
        self.blocked = true;
        self.waits = "a warp-wide call";
        while (self.blocked) {
            pause();
        }
        self.waits = nullptr;
    }
    return slots;
}

void Grid::syncThreads(unsigned barrier, unsigned threads) {
    Lane& self = *running_;
    NamedBarrier& meeting = named_[{self.block, barrier}];
    meeting.waiting.push_back(&self);
    if (meeting.waiting.size() == threads) {
        for (Lane* lane : meeting.waiting) {
            lane->blocked = false;
        }
        meeting.waiting.clear();
        moved();
        return;
    }
    self.blocked = true;
    self.waits = "a named barrier";
    while (self.blocked) {
        pause();
    }
    self.waits = nullptr;
}

PhaseBarrier& Grid::phaseBarrier(std::uint64_t* barrier) {
    const auto found = phase_barriers_.find(barrier);
    if (found == phase_barriers_.end()) {
        throw LabError("emulator: a barrier is used before initBarrier()");
    }
    return found->second;
}

void Grid::change(std::uint64_t* barrier, unsigned arrivals, std::int64_t bytes) {
    PhaseBarrier& state = phaseBarrier(barrier);
    if (arrivals > state.pending) {
        throw LabError("emulator: more arrivals at a barrier than it was initialised for");
    }
    state.pending -= arrivals;
    state.bytes += bytes;
    if (state.pending == 0 && state.bytes == 0) {
        ++state.phase;
        state.pending = state.arrivals;
    }
    moved();
}

void Grid::start(const Copy& copy) {
    const auto address = [](const void* pointer) {
        return reinterpret_cast<std::uintptr_t>(pointer);
    };
    if (copy.bytes == 0 || copy.bytes % 16 != 0 || address(copy.to) % 16 != 0 ||
        address(copy.from) % 16 != 0) {
        throw LabError("emulator: a bulk copy of " + std::to_string(copy.bytes) +
                       " bytes is not aligned to 16");
    }
    std::memset(copy.to, 0xff, copy.bytes); // who reads too early gets NaN
    copies_.push_back(copy);
}

void Grid::land(std::size_t index) {
    const Copy copy = copies_[index];
    copies_[index] = copies_.back();
    copies_.pop_back();
    std::memcpy(copy.to, copy.from, copy.bytes);
    ++counts_.copies;
    change(copy.barrier, 0, -static_cast<std::int64_t>(copy.bytes));
}

void Grid::resume(Lane& lane) {
    running_ = &lane;
    ++counts_.switches;
    lane.fiber = std::move(lane.fiber).resume();
    running_ = nullptr;
    if (!failure_.empty()) {
        throw LabError(failure_);
    }
}

void Grid::stuck() const {
    std::map<std::string, unsigned> reasons;
    for (const auto& warp : warps_) {
        for (const Lane& lane : warp->lanes) {
            if (!lane.done) {
                ++reasons["block " + std::to_string(lane.block) + ": " +
                          (lane.waits != nullptr ? lane.waits : "nothing known")];
            }
        }
    }
    std::string text = "emulator: no thread can go on. Threads that wait:";
    for (const auto& [reason, threads] : reasons) {
        text += "\n  " + std::to_string(threads) + " of " + reason;
    }
    throw LabError(text);
}

RunCounts Grid::run() {
    const unsigned warpsABlock = shape_.threads / kLanes;
    if (shape_.threads % kLanes != 0 || warpsABlock == 0) {
        throw LabError("emulator: a block must be whole warps");
    }
    for (unsigned block = 0; block < shape_.blocks; ++block) {
        shared_.emplace_back(shape_.shared_bytes + 1024, std::byte{0xff});
        std::byte* shared = shared_.back().data();
        shared += 1024 - reinterpret_cast<std::uintptr_t>(shared) % 1024;
        for (unsigned w = 0; w < warpsABlock; ++w) {
            warps_.push_back(std::make_unique<Warp>());
            for (unsigned l = 0; l < kLanes; ++l) {
                Lane& lane = warps_.back()->lanes[l];
                lane.warp = warps_.back().get();
                lane.lane = l;
                lane.thread = w * kLanes + l;
                lane.block = block;
                lane.fiber = boost::context::fiber(
                    std::allocator_arg, boost::context::fixedsize_stack(kStackBytes),
                    [this, &lane, shared](boost::context::fiber&& back) {
                        lane.back = std::move(back);
                        try {
                            kernel_(shared);
                        } catch (const std::exception& error) { // not the unwinding of a fiber
                            failure_ = error.what();
                        }
                        lane.done = true;
                        moved();
                        return std::move(lane.back);
                    });
            }
        }
    }
    std::vector<Warp*> active;
    for (const auto& warp : warps_) {
        active.push_back(warp.get());
    }
    while (!active.empty()) {
        if (!copies_.empty() && random_() % 4 == 0) {
            land(random_() % copies_.size());
        }
        const std::size_t pick = random_() % active.size();
        Warp& warp = *active[pick];
        for (std::uint64_t passes = 1 + random_() % 16; passes > 0; --passes) {
            bool any = false;
            for (Lane& lane : warp.lanes) {
                if (!lane.done && !lane.blocked) {
                    resume(lane);
                    any = true;
                }
            }
            if (!any) {
                break;
            }
        }
        if (std::all_of(warp.lanes.begin(), warp.lanes.end(),
                        [](const Lane& lane) { return lane.done; })) {
            active[pick] = active.back();
            active.pop_back();
        }
        if (++quiet_ > kQuietRounds * warps_.size()) {
            if (copies_.empty()) {
                stuck();
            }
            land(random_() % copies_.size());
        }
    }
    while (!copies_.empty()) {
        land(copies_.size() - 1);
    }
    return counts_;
}

} // namespace

RunCounts runGrid(const GridShape& shape, std::uint64_t seed,
                  const std::function<void(std::byte* shared)>& kernel) {
    Grid running(shape, seed, kernel);
    struct Scope {
        Grid* before = grid;
        ~Scope() { grid = before; }
    } scope;
    grid = &running;
    return running.run();
}

unsigned threadIndex() {
    return grid->lane().thread;
}
unsigned blockIndex() {
    return grid->lane().block;
}
unsigned blockCount() {
    return grid->shape().blocks;
}

void syncWarp() {
    grid->meet(WarpCall::Sync, {});
}
std::uint32_t shuffle(std::uint32_t value, unsigned lane) {
    return grid->meet(WarpCall::Shuffle, {value})[lane % kLanes][0];
}
std::uint32_t shuffleXor(std::uint32_t value, unsigned mask) {
    const unsigned self = grid->lane().lane;
    return grid->meet(WarpCall::ShuffleXor, {value})[(self ^ mask) % kLanes][0];
}
float shuffleXor(float value, unsigned mask) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    bits = shuffleXor(bits, mask);
    std::memcpy(&value, &bits, sizeof(bits));
    return value;
}
void syncThreads(unsigned barrier, unsigned threads) {
    grid->syncThreads(barrier, threads);
}

void initBarrier(std::uint64_t* barrier, unsigned arrivals) {
    grid->initBarrier(barrier, arrivals);
}
void arrive(std::uint64_t* barrier) {
    grid->change(barrier, 1, 0);
}
void arriveExpecting(std::uint64_t* barrier, unsigned bytes) {
    grid->change(barrier, 1, bytes);
}
void bulkCopy(void* shared, const void* global, unsigned bytes, std::uint64_t* barrier) {
    grid->start({shared, global, bytes, barrier});
}
void waitPhase(std::uint64_t* barrier, unsigned parity, unsigned* /*fault*/) {
    grid->wait("a copy or a free slot (phase of a barrier)",
               [&] { return (grid->phaseBarrier(barrier).phase & 1U) != parity; });
}

void waitAtLeast(const unsigned* counter, unsigned target, unsigned* /*fault*/) {
    grid->wait("an event", [&] { return static_cast<int>(*counter - target) >= 0; });
}
void addRelease(unsigned* counter, unsigned value) {
    *counter += value;
    grid->moved();
}
void addRelease(unsigned long long* counter, unsigned long long value) {
    *counter += value;
    grid->moved();
}
unsigned incrementWrapping(unsigned* counter, unsigned last) {
    const unsigned before = *counter;
    *counter = before >= last ? 0 : before + 1;
    grid->moved();
    return before;
}
unsigned long long globalTimerNs() {
    return grid->now();
}

void multiplyTile(float (&sum)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                  std::uint32_t a3, std::uint32_t b0, std::uint32_t b1) {
    const unsigned self = grid->lane().lane;
    const auto& words = grid->meet(WarpCall::Multiply, {a0, a1, a2, a3, b0, b1});
    const auto half = [](std::uint32_t pair, unsigned index) {
        return toFloat(BFloat16{static_cast<std::uint16_t>(pair >> (16 * index))});
    };
    // Layout of the fragments: PTX ISA, "Matrix Fragments for mma.m16n8k16" (bfloat16).
    for (unsigned c = 0; c < 4; ++c) {
        const unsigned row = self / 4 + 8 * (c / 2);
        const unsigned column = self % 4 * 2 + c % 2;
        for (unsigned k = 0; k < 16; ++k) {
            const unsigned owner = k % 8 / 2;
            const std::uint32_t a = words[row % 8 * 4 + owner][k / 8 * 2 + row / 8];
            const std::uint32_t b = words[column * 4 + owner][4 + k / 8];
            sum[c] += half(a, k % 2) * half(b, k % 2);
        }
    }
}

} // namespace kerf::lab::simt
