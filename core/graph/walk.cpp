// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/walk.h"

#include <algorithm>

namespace kerf::graph {
namespace {

bool findPlace(const std::vector<Item>& items, SiteIndex site, Place& place) {
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Item& item = items[i];
        if (item.kind == Item::Kind::Op) {
            continue;
        }
        place.path.push_back(i);
        if (item.kind == Item::Kind::Site) {
            if (static_cast<SiteIndex>(item.index) == site) {
                return true;
            }
        } else if (item.back_site == site) {
            place.back = true;
            return true;
        } else if (findPlace(item.body, site, place)) {
            return true;
        }
        place.path.pop_back();
    }
    return false;
}

/// Appends items[begin, end) without sites; a loop that is entered in the middle becomes its first,
/// partial iteration and a loop of the others.
void appendWhole(const std::vector<Item>& items, std::size_t begin, std::size_t end,
                 std::vector<Item>& out) {
    for (std::size_t i = begin; i < end; ++i) {
        const Item& item = items[i];
        if (item.kind == Item::Kind::Op) {
            out.push_back(item);
            continue;
        }
        if (item.kind == Item::Kind::Site) {
            continue;
        }
        Item loop;
        loop.kind = Item::Kind::Loop;
        loop.label = item.label;
        loop.count = item.count;
        appendWhole(item.body, 0, item.body.size(), loop.body);
        std::vector<Item> skipped;
        appendWhole(item.body, 0, item.entry, skipped);
        if (!skipped.empty()) {
            appendWhole(item.body, item.entry, item.body.size(), out);
            --loop.count;
        }
        if (loop.count == 1) {
            out.insert(out.end(), loop.body.begin(), loop.body.end());
        } else if (!loop.body.empty()) {
            out.push_back(std::move(loop));
        }
    }
}

/// A place with the lists of items that it lies in: level 0 is the path, level k the body of the
/// k-th loop around it.
class Position {
public:
    Position(const Chain& chain, Place place) : place_(std::move(place)) {
        bodies_.push_back(&chain.items);
        entries_.push_back(0);
        for (std::size_t level = 0; level < place_.loops(); ++level) {
            const Item& loop = (*bodies_.back())[place_.path[level]];
            bodies_.push_back(&loop.body);
            entries_.push_back(loop.entry);
        }
    }

    [[nodiscard]] const Place& place() const { return place_; }
    [[nodiscard]] std::size_t depth() const { return place_.loops(); }
    [[nodiscard]] const std::vector<Item>& body(std::size_t level) const { return *bodies_[level]; }
    /// First item behind it at `level`. Behind a back site the body starts again.
    [[nodiscard]] std::size_t after(std::size_t level) const {
        return level == place_.path.size() ? 0 : place_.path[level] + 1;
    }
    /// One past the last item in front of it at `level`.
    [[nodiscard]] std::size_t before(std::size_t level) const {
        return level == place_.path.size() ? body(level).size() : place_.path[level];
    }

    /// From here to the end of the loops deeper than `level`, in their last iteration.
    void appendWayOut(std::size_t level, std::vector<Item>& out) const {
        for (std::size_t inner = depth(); inner > level; --inner) {
            appendWhole(body(inner), after(inner), body(inner).size(), out);
        }
    }
    /// From the start of the loops deeper than `level`, entered anew, to here.
    void appendWayIn(std::size_t level, std::vector<Item>& out) const {
        for (std::size_t inner = level + 1; inner <= depth(); ++inner) {
            const std::size_t entry = entries_[inner];
            const std::size_t end = before(inner);
            if (entry <= end) {
                appendWhole(body(inner), entry, end, out);
            } else {
                appendWhole(body(inner), entry, body(inner).size(), out);
                appendWhole(body(inner), 0, end, out);
            }
        }
    }

private:
    Place place_;
    std::vector<const std::vector<Item>*> bodies_;
    std::vector<std::size_t> entries_;
};

std::vector<Item> opsBetween(const Position& from, const Position& to, std::int32_t loops_left) {
    std::vector<Item> out;
    const std::size_t common = commonLoops(from.place(), to.place());
    if (loops_left < 0 || static_cast<std::size_t>(loops_left) > common) {
        return out;
    }
    const std::size_t level = common - static_cast<std::size_t>(loops_left);
    const std::size_t begin = from.after(level);
    const std::size_t end = to.before(level);
    const bool forward = loops_left == 0 && begin <= end;
    if (!forward && level == 0) {
        return out; // the path itself is walked once
    }
    from.appendWayOut(level, out);
    if (forward) {
        appendWhole(from.body(level), begin, end, out);
    } else {
        appendWhole(from.body(level), begin, from.body(level).size(), out);
        appendWhole(from.body(level), 0, end, out);
    }
    to.appendWayIn(level, out);
    return out;
}

} // namespace

SiteIndex pathEnd(const Chain& chain) {
    return static_cast<SiteIndex>(chain.sites.size());
}

std::optional<Place> placeOf(const Chain& chain, SiteIndex site) {
    Place place;
    if (site < 0 || !findPlace(chain.items, site, place)) {
        return std::nullopt;
    }
    return place;
}

std::size_t commonLoops(const Place& a, const Place& b) {
    const std::size_t most = std::min(a.loops(), b.loops());
    std::size_t common = 0;
    while (common < most && a.path[common] == b.path[common]) {
        ++common;
    }
    return common;
}

std::vector<Item> opsOf(const Chain& chain, Region region) {
    const bool from_start = region.from == kPathStart;
    const bool to_end = region.to == pathEnd(chain);
    std::vector<Item> out;
    if (from_start && to_end) {
        appendWhole(chain.items, 0, chain.items.size(), out);
        return out;
    }
    const std::optional<Place> from = from_start ? Place{} : placeOf(chain, region.from);
    const std::optional<Place> to = to_end ? Place{} : placeOf(chain, region.to);
    if (!from || !to) {
        return out;
    }
    if (from_start) {
        const Position target(chain, *to);
        appendWhole(chain.items, 0, target.before(0), out);
        target.appendWayIn(0, out);
    } else if (to_end) {
        const Position source(chain, *from);
        source.appendWayOut(0, out);
        appendWhole(chain.items, source.after(0), chain.items.size(), out);
    } else {
        return opsBetween(Position(chain, *from), Position(chain, *to), region.loops_left);
    }
    return out;
}

std::vector<WalkStep> unroll(const Chain& chain) {
    struct Collector {
        std::vector<WalkStep> steps;
        void op(std::size_t index) { steps.push_back({false, index}); }
        void site(SiteIndex index) { steps.push_back({true, static_cast<std::size_t>(index)}); }
        void nextIteration(std::size_t) {}
    } collector;
    walk(chain.items, collector);
    return std::move(collector.steps);
}

} // namespace kerf::graph
