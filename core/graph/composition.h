// SPDX-License-Identifier: GPL-3.0-or-later
// A composition: where the path is cut, and how each region runs.
#pragma once

#include "core/graph/chain.h"

#include <map>

namespace kerf::graph {

enum class Mode : std::uint8_t { Conventional, Megakernel };
enum class Kind : std::uint8_t { Conventional, Monolith, Pure, Mixed };
[[nodiscard]] std::string_view toString(Kind kind); ///< "conventional", "monolith", "pure", "mixed"

/// Cuts and modes of one chain. A region's mode belongs to the site where it starts, so it holds in
/// every iteration.
struct Composition {
    Mode first_mode = Mode::Megakernel; ///< of the region that starts the path
    std::map<SiteIndex, Mode> cuts;     ///< site → mode of the region that starts there
    bool operator==(const Composition&) const = default;
};

[[nodiscard]] Composition fullyConventional();
[[nodiscard]] Composition monolith();
[[nodiscard]] Kind kindOf(const Composition& composition);
/// Without cuts that only ever lie between conventional regions, which change nothing. A cut that
/// starts a conventional region stays when any region that ends there is a megakernel (in a loop:
/// the one before the loop or the one around its end). Compositions with the same regions and modes
/// have the same normal form.
[[nodiscard]] Composition normalised(const Chain& chain, Composition composition);

/// A region of a composition and how often it is launched along the path.
struct RegionUse {
    Region region;
    Mode mode = Mode::Megakernel;
    std::int64_t count = 1;
};
/// Every distinct region in order of first execution. The counts are the launches; a stretch
/// without ops (a cut where the path starts or ends) launches nothing and is left out.
[[nodiscard]] std::vector<RegionUse> regionsOf(const Chain& chain, const Composition& composition);

/// `count` times the launch of region `next` follows that of region `first`.
struct RegionPair {
    std::size_t first = 0; ///< index into regionsOf()
    std::size_t next = 0;
    std::int64_t count = 0;
};
/// Every pair of consecutive launches along the path, sorted.
[[nodiscard]] std::vector<RegionPair> consecutiveRegions(const Chain& chain,
                                                         const Composition& composition);

/// A composition in words that hold at every batch size: site keys and modes.
struct NamedComposition {
    Mode first_mode = Mode::Megakernel;
    std::map<std::string, Mode> cuts; ///< by Site::key
    std::string name;                 ///< given by the user; may be empty
    bool operator==(const NamedComposition&) const = default;
};
[[nodiscard]] NamedComposition named(const Chain& chain, const Composition& composition);
/// The composition on another chain (another batch size). Keys that the chain lacks are listed in
/// `missing` and left out.
[[nodiscard]] Composition resolved(const Chain& chain, const NamedComposition& named,
                                   std::vector<std::string>* missing = nullptr);

} // namespace kerf::graph
