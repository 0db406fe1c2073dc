// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/ncu_match.h"

#include "core/sim/bandwidth_floor.h"
#include "core/workload/align.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace kerf::cost {
namespace {

using workload::OpRole;
using workload::Workload;

using Sizes = std::array<std::uint32_t, 3>;
using Identity = std::tuple<std::string, Sizes, Sizes>; ///< name, grid, block

struct Position {
    std::size_t stage = 0;
    std::size_t op = 0;
};
using Positions = std::map<Identity, std::vector<Position>>;
using Launches = std::map<Identity, std::vector<const NcuLaunch*>>;

constexpr std::size_t kNamesInANote = 5;
/// What a kernel may pass the measured bandwidth by: on an H200 a tenth above it lies over the data
/// sheet's 4.8 TB/s. A choice.
constexpr double kMemoryHeadroom = 1.1;

/// "void ns::kernel<4, ns::T>(int)" → "kernel".
std::string functionName(std::string name) {
    for (const std::string_view nameless : {"(anonymous namespace)", "<unnamed>"}) {
        for (auto at = name.find(nameless); at != std::string::npos; at = name.find(nameless)) {
            name.erase(at, nameless.size());
        }
    }
    name = name.substr(0, name.find_first_of("<("));
    return name.substr(name.find_last_of(": ") + 1); // npos + 1 is 0
}

std::string textOf(const Identity& identity) {
    const auto& [name, grid, block] = identity;
    return fmt::format("{} (grid {}, block {})", name, fmt::join(grid, "×"), fmt::join(block, "×"));
}

/// The first few names, and how many more.
std::string listOf(const std::vector<std::string>& names) {
    const auto shown = std::min(names.size(), kNamesInANote);
    std::string text =
        fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<long>(shown), ", "));
    return names.size() > shown ? fmt::format("{} and {} more", text, names.size() - shown) : text;
}

std::optional<double> readBytesOf(const NcuLaunch& launch) {
    if (launch.read_bytes) {
        return launch.read_bytes;
    }
    std::optional<double> all = launch.total_bytes;
    if (!all && launch.bytes_per_us && launch.duration_us) {
        all = *launch.bytes_per_us * *launch.duration_us;
    }
    return all ? std::optional(std::max(*all - launch.write_bytes.value_or(0), 0.0)) : all;
}

class Matcher {
public:
    Matcher(const NcuFile& file, const Workload& workload, const Hardware& hardware)
        : file_(file), workload_(workload), hardware_(hardware) {
        matched_.by_op.resize(workload.stages.size());
        for (std::size_t s = 0; s < workload.stages.size(); ++s) {
            matched_.by_op[s].resize(workload.stages[s].ops.size());
        }
    }

    Expected<MatchedCounters> match() {
        const bool anyBytes = std::any_of(file_.launches.begin(), file_.launches.end(),
                                          [](const auto& l) { return readBytesOf(l).has_value(); });
        if (!anyBytes) {
            return fail("ncu CSV: no launch has bytes of device memory", file_.file,
                        "Record dram__bytes_read.sum; see docs/formats/ncu.md.");
        }
        collect();
        pair([](const std::string& name) { return name; });
        pair(functionName);
        if (error_) {
            return tl::unexpected(*error_);
        }
        if (used_ == 0) {
            return fail(fmt::format("ncu CSV: none of its {} launches can be told to be a kernel "
                                    "of {} at batch {}",
                                    file_.launches.size(), workload_.model, workload_.batch),
                        file_.file, "Profile the run that was recorded, from its first kernel on.");
        }
        noteTheRest();
        return std::move(matched_);
    }

private:
    /// Recorded kernels in the order of the path (each stage's once where it is not on it).
    void collect() {
        std::set<std::size_t> onPath;
        for (const auto& step : workload_.path) {
            for (int i = 0; i < step.repeats; ++i) {
                addStage(step.stage);
            }
            onPath.insert(step.stage);
        }
        for (std::size_t s = 0; s < workload_.stages.size(); ++s) {
            if (!onPath.contains(s)) {
                addStage(s);
            }
        }
        for (const auto& launch : file_.launches) {
            launches_[{launch.kernel, launch.grid, launch.block}].push_back(&launch);
        }
    }

    void addStage(std::size_t stage) {
        const auto& ops = workload_.stages[stage].ops;
        for (std::size_t i = 0; i < ops.size(); ++i) {
            if (ops[i].role != OpRole::Copy && ops[i].role != OpRole::Memset) {
                recorded_[{ops[i].kernel, ops[i].grid, ops[i].block}].push_back({stage, i});
            }
        }
    }

    /// Pairs what has found no partner yet and has the same name after `nameOf`.
    template <class NameOf> void pair(NameOf&& nameOf) {
        std::map<Identity, std::vector<Identity>> recordedAs;
        for (const auto& [identity, positions] : recorded_) {
            auto named = identity;
            std::get<0>(named) = nameOf(std::get<0>(identity));
            recordedAs[named].push_back(identity);
        }
        std::map<Identity, std::vector<Identity>> launchedAs;
        for (const auto& [identity, launches] : launches_) {
            auto named = identity;
            std::get<0>(named) = nameOf(std::get<0>(identity));
            launchedAs[named].push_back(identity);
        }
        for (const auto& [named, launched] : launchedAs) {
            const auto found = recordedAs.find(named);
            // Several kernels of one function: which is which cannot be told from its name.
            if (found == recordedAs.end() || launched.size() > 1 || found->second.size() > 1) {
                continue;
            }
            deal(launches_.at(launched.front()), recorded_.at(found->second.front()), named);
            launches_.erase(launched.front());
            recorded_.erase(found->second.front());
        }
    }

    void deal(const std::vector<const NcuLaunch*>& launches, std::vector<Position> positions,
              const Identity& identity) {
        const auto stage = positions.front().stage;
        const bool oneStage = std::all_of(positions.begin(), positions.end(),
                                          [&](const auto& p) { return p.stage == stage; });
        if (oneStage) { // each execution of the stage is like the first
            const auto again =
                std::find_if(positions.begin() + 1, positions.end(),
                             [&](const auto& p) { return p.op == positions.front().op; });
            positions.erase(again, positions.end());
        }
        std::vector<std::vector<const NcuLaunch*>> dealt(positions.size());
        if (launches.size() % positions.size() == 0) {
            for (std::size_t i = 0; i < launches.size(); ++i) {
                dealt[i % positions.size()].push_back(launches[i]);
            }
        } else if (oneStage && areOneOp(positions)) {
            std::fill(dealt.begin(), dealt.end(), launches);
        } else {
            matched_.notes.push_back(fmt::format(
                "{}: {} launches for {} recorded executions of {}: not used, because it cannot be "
                "told which is which",
                file_.file, launches.size(), positions.size(), textOf(identity)));
            return;
        }
        std::map<std::pair<std::size_t, std::size_t>, std::vector<const NcuLaunch*>> byOp;
        for (std::size_t i = 0; i < positions.size(); ++i) {
            auto& list = byOp[{positions[i].stage, positions[i].op}];
            list.insert(list.end(), dealt[i].begin(), dealt[i].end());
        }
        for (const auto& [at, list] : byOp) {
            set(at.first, at.second, list);
        }
        used_ += launches.size();
    }

    [[nodiscard]] bool areOneOp(const std::vector<Position>& positions) const {
        const auto& fold = workload_.stages[positions.front().stage].fold;
        const auto first = workload::foldPosition(fold, positions.front().op);
        return std::all_of(positions.begin(), positions.end(), [&](const auto& p) {
            const auto place = workload::foldPosition(fold, p.op);
            return place.section == first.section && place.offset == first.offset;
        });
    }

    void set(std::size_t stage, std::size_t op, const std::vector<const NcuLaunch*>& launches) {
        double bytes = 0;
        int counted = 0;
        struct Share {
            double sum = 0;
            int count = 0;
            void add(std::optional<double> value) {
                sum += value.value_or(0);
                count += value ? 1 : 0;
            }
            [[nodiscard]] std::optional<double> mean() const {
                return count > 0 ? std::optional(sum / count) : std::nullopt;
            }
        } dram, sm;
        for (const auto* launch : launches) {
            const auto read = readBytesOf(*launch);
            if (!read) {
                continue;
            }
            check(*launch, *read, workload_.stages[stage].ops[op].duration_us);
            bytes += *read;
            ++counted;
            auto share = launch->dram_share;
            if (!share && launch->duration_us && *launch->duration_us > 0) {
                share = *read / (*launch->duration_us * hardware_.memory_gbps.value * 1e3);
            }
            dram.add(share);
            sm.add(launch->sm_share);
        }
        if (counted > 0) {
            matched_.by_op[stage][op] = KernelCounters{bytes / counted, dram.mean(), sm.mean()};
        }
    }

    void check(const NcuLaunch& launch, double readBytes, double recordedUs) {
        const double most = kMemoryHeadroom * hardware_.memory_gbps.value;
        const double all = launch.total_bytes.value_or(readBytes + launch.write_bytes.value_or(0));
        const double bytes =
            launch.duration_us ? all : std::max(all - static_cast<double>(hardware_.l2_bytes), 0.0);
        const auto ok = sim::checkBandwidthFloor(fmt::format("ncu CSV: {}", launch.kernel), bytes,
                                                 launch.duration_us.value_or(recordedUs), most);
        if (!ok && !error_) {
            error_ = ok.error();
            error_->where = fmt::format("{}, line {}", file_.file, launch.line);
        }
    }

    void noteTheRest() {
        std::size_t count = 0;
        std::vector<std::string> names;
        for (const auto& [identity, launches] : launches_) {
            count += launches.size();
            names.push_back(textOf(identity));
        }
        if (count > 0) {
            matched_.notes.push_back(
                fmt::format("{}: {} of {} launches match no recorded kernel by name, grid and "
                            "block: {}",
                            file_.file, count, file_.launches.size(), listOf(names)));
        }
        names.clear();
        for (const auto& [identity, positions] : recorded_) {
            names.push_back(textOf(identity));
        }
        if (!names.empty()) {
            matched_.notes.push_back(fmt::format("{}: has no launch of {} recorded kernels: {}",
                                                 file_.file, names.size(), listOf(names)));
        }
    }

    const NcuFile& file_;
    const Workload& workload_;
    const Hardware& hardware_;
    Positions recorded_; ///< without a partner yet
    Launches launches_;  ///< likewise
    MatchedCounters matched_;
    std::size_t used_ = 0;
    std::optional<Error> error_;
};

} // namespace

Expected<MatchedCounters> matchCounters(const NcuFile& file, const Workload& workload,
                                        const Hardware& hardware) {
    return Matcher(file, workload, hardware).match();
}

} // namespace kerf::cost
