// SPDX-License-Identifier: GPL-3.0-or-later
// Walking a chain, and where its sites lie in the nesting of loops.
#pragma once

#include "core/graph/chain.h"

#include <optional>
#include <span>

namespace kerf::graph {

/// Where a site lies: the index of its item, or of the loop that contains it, at each level from
/// the path inwards. A back site lies in its loop's body, between the last item and the first.
struct Place {
    std::vector<std::size_t> path;
    bool back = false;
    /// Loops around the site.
    [[nodiscard]] std::size_t loops() const { return back ? path.size() : path.size() - 1; }
};

/// Nothing where no item names the site.
[[nodiscard]] std::optional<Place> placeOf(const Chain& chain, SiteIndex site);

/// Loops around both.
[[nodiscard]] std::size_t commonLoops(const Place& a, const Place& b);

/// Runs `items` in order of execution. `visitor` has op(index), site(index) and
/// nextIteration(depth), called before each iteration but a loop's first; the outermost loop has
/// depth 1.
template <class Visitor>
void walk(std::span<const Item> items, Visitor& visitor, std::size_t depth = 0) {
    for (const Item& item : items) {
        switch (item.kind) {
        case Item::Kind::Op:
            visitor.op(item.index);
            break;
        case Item::Kind::Site:
            visitor.site(static_cast<SiteIndex>(item.index));
            break;
        case Item::Kind::Loop:
            const std::span<const Item> body(item.body);
            walk(body.subspan(item.entry), visitor, depth + 1);
            for (int iteration = 1; iteration < item.count; ++iteration) {
                visitor.nextIteration(depth + 1);
                if (item.back_site != kPathStart) {
                    visitor.site(item.back_site);
                }
                walk(body, visitor, depth + 1);
            }
            break;
        }
    }
}

} // namespace kerf::graph
