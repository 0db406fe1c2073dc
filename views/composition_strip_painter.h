// SPDX-License-Identifier: GPL-3.0-or-later
// What is drawn of a strip, as a list of primitives: hit tests and tests read the same list that is
// painted.
#pragma once

#include "views/composition_strip_edit.h"
#include "views/composition_strip_model.h"
#include "views/theme.h"

#include <QRectF>
#include <optional>

class QPainter;

namespace kerf::views {

/// What the keyboard (or a click) has selected.
struct StripSelection {
    enum class Kind : std::uint8_t { None, Handle, Region, Loop };
    Kind kind = Kind::None;
    /// Handle: its site. Region: the cut that starts it. Loop: its back site.
    graph::SiteIndex site = graph::kPathStart;
    bool operator==(const StripSelection&) const = default;
};

/// Everything that changes while a person edits.
struct StripState {
    graph::Composition composition;
    StripSelection selection;
    bool focused = false;                       ///< the widget has the keyboard
    std::optional<graph::SiteIndex> dragged;    ///< where the dragged handle is now
    std::optional<graph::SiteIndex> drag_start; ///< where it was
    std::optional<graph::SiteIndex> hovered_handle;
};

/// Heights of the rows, top to bottom.
struct StripRows {
    QRectF labels;  ///< "was here"
    QRectF regions; ///< brackets
    QRectF blocks;
    QRectF layers; ///< brackets of folded layers
    QRectF stages; ///< names
    double loops_top = 0;
    double bottom = 0;
};
inline constexpr double kStripLoopRow = 18;
inline constexpr double kStripGrab = 8; ///< px either side of a handle

[[nodiscard]] StripRows rowsOf(const StripLayout& layout, QSizeF size);
/// Height that shows everything.
[[nodiscard]] int stripHeight(int loopRows);

struct StripPrimitive {
    enum class Kind : std::uint8_t {
        Block,     ///< an op; index: op
        StageName, ///< index: stage
        Bracket,   ///< of a loop; index: into StripLayout::loops
        LoopLabel, ///< count and, where it can be cut, whether it is; index as Bracket
        Region,    ///< index: into the regions
        FirstOnly, ///< another mode in first iterations; index: site
        BackCut,   ///< a cut between iterations; index: site
        Ghost,     ///< where the dragged handle was; index: site
        Handle,    ///< index: site
    };
    Kind kind = Kind::Block;
    QRectF rect;
    QColor colour;
    QString text;
    int index = 0;
    bool hatched = false;  ///< conventional
    bool accented = false; ///< selected, hovered or dragged
    bool cut = false;      ///< LoopLabel: the loop is cut each iteration
    bool can_cut = false;  ///< LoopLabel: a click switches it
};

/// Blocks, names and the brackets of loops: all that stays the same while a handle is dragged.
[[nodiscard]] std::vector<StripPrimitive> fixedPrimitives(const graph::Chain& chain,
                                                          const StripLayout& layout,
                                                          const StripRows& rows,
                                                          const Theme& theme);
/// Regions, labels of loops, handles.
[[nodiscard]] std::vector<StripPrimitive>
movingPrimitives(const StripLayout& layout, const std::vector<StripRegion>& regions,
                 const StripRows& rows, const StripState& state, const Theme& theme);
void paintStrip(QPainter& painter, const std::vector<StripPrimitive>& primitives,
                const Theme& theme);

} // namespace kerf::views
