// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/composition_strip_painter.h"

#include "views/drawing.h"

#include <QFontMetricsF>
#include <QPainter>
#include <algorithm>

namespace kerf::views {
namespace {

constexpr double kLabelRow = 15;
constexpr double kPinRoom = 10;
constexpr double kRegionRow = 20;
constexpr double kRegionToBlocks = 7;
constexpr double kBlockRow = 34;
constexpr double kBlockRowMost = 56;
constexpr double kLayerRow = 17;
constexpr double kStageRow = 19;
constexpr double kPinRadius = 4.5;

QRectF loopRect(const StripLoop& loop, const StripRows& rows) {
    if (loop.layer) {
        return {loop.left, rows.layers.top(), loop.right - loop.left, rows.layers.height()};
    }
    return {loop.left, rows.loops_top + loop.row * kStripLoopRow, loop.right - loop.left,
            kStripLoopRow};
}

/// From the most to the least that can be said about a loop; all tell a cut loop from a fused one.
QStringList loopTexts(const StripLoop& loop, bool cut) {
    const bool canCut = loop.back_site != graph::kPathStart;
    const QString count = QString::number(loop.count);
    if (loop.layer) {
        const QString times = QStringLiteral("×") + count;
        if (!canCut) {
            return {times};
        }
        return cut ? QStringList{times + QStringLiteral(" · cut each layer"),
                                 times + QStringLiteral(" · cut"), times + QStringLiteral(" ¦")}
                   : QStringList{times + QStringLiteral(" · fused"), times};
    }
    const QString turns = QStringLiteral("↻ ") + count;
    const QString full = turns + QStringLiteral(" × ") + loop.label;
    if (!canCut) {
        return {full, turns};
    }
    return cut ? QStringList{full + QStringLiteral(" · cut each iteration"),
                             turns + QStringLiteral(" · cut each iteration"),
                             turns + QStringLiteral(" · cut"), turns + QStringLiteral(" ¦")}
               : QStringList{full + QStringLiteral(" · fused"), turns + QStringLiteral(" · fused"),
                             turns};
}

QFont loopFont(bool cut) {
    return textFont(11, cut ? QFont::DemiBold : QFont::Normal);
}

StripPrimitive loopLabel(const StripLoop& loop, int index, const StripRows& rows,
                         const StripState& state, const Theme& theme) {
    const bool cut = state.composition.cuts.contains(loop.back_site);
    const QRectF bracket = loopRect(loop, rows);
    const QFontMetricsF metrics(loopFont(cut));
    QString text;
    double width = 0;
    for (const QString& candidate : loopTexts(loop, cut)) {
        const double needed = metrics.horizontalAdvance(candidate) + 12;
        if (needed <= bracket.width()) {
            text = candidate;
            width = needed;
            break;
        }
    }
    if (text.isEmpty()) {
        width = bracket.width(); // nothing fits; the bracket itself stays clickable
    }
    const bool accented = state.selection.kind == StripSelection::Kind::Loop &&
                          state.selection.site == loop.back_site && state.focused;
    return {
        .kind = StripPrimitive::Kind::LoopLabel,
        .rect = {bracket.center().x() - width / 2, bracket.top() + 1, width, bracket.height() - 2},
        .colour = accented ? theme.accent : (cut ? theme.ink : theme.muted),
        .text = text,
        .index = index,
        .accented = accented,
        .cut = cut,
        .can_cut = loop.back_site != graph::kPathStart};
}

void paintBlock(QPainter& painter, const StripPrimitive& block) {
    painter.fillRect(block.rect, block.colour);
    painter.setFont(textFont(10));
    if (QFontMetricsF(painter.font()).horizontalAdvance(block.text) + 6 <= block.rect.width()) {
        painter.setPen(textOn(block.colour));
        painter.drawText(block.rect, Qt::AlignCenter, block.text);
    }
}

void paintBracket(QPainter& painter, const StripPrimitive& bracket) {
    const QRectF& r = bracket.rect;
    const double middle = r.center().y();
    const double tick = middle - 4;
    painter.setPen(QPen(bracket.colour, 1));
    painter.drawPolyline(QPolygonF{{r.left() + 0.5, tick},
                                   {r.left() + 0.5, middle},
                                   {r.right() - 0.5, middle},
                                   {r.right() - 0.5, tick}});
}

void paintLoopLabel(QPainter& painter, const StripPrimitive& label, const Theme& theme) {
    if (label.text.isEmpty() && !label.accented) {
        return;
    }
    painter.setPen(label.accented ? QPen(theme.accent, 1.5) : QPen(Qt::NoPen));
    painter.setBrush(label.text.isEmpty() ? QBrush(Qt::NoBrush) : QBrush(theme.panel));
    painter.drawRoundedRect(label.rect, 4, 4);
    painter.setPen(label.colour);
    painter.setFont(loopFont(label.cut));
    painter.drawText(label.rect, Qt::AlignCenter, label.text);
}

void paintRegion(QPainter& painter, const StripPrimitive& region, const Theme& theme) {
    const QRectF r = region.rect.adjusted(0.5, 0.5, -0.5, -0.5);
    painter.setBrush(region.hatched ? theme.panel : theme.soft);
    painter.setPen(Qt::NoPen);
    painter.drawRoundedRect(r, 3, 3);
    if (region.hatched) {
        drawHatch(painter, r.adjusted(1, 1, -1, -1), theme.line);
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(region.accented ? theme.accent : (region.hatched ? theme.line : theme.ink),
                        region.accented ? 2 : 1));
    painter.drawRoundedRect(r, 3, 3);
    painter.setFont(textFont(12, region.hatched ? QFont::Normal : QFont::DemiBold));
    painter.setPen(region.hatched ? theme.muted : theme.ink);
    const QFontMetricsF metrics(painter.font());
    const QRectF room = r.adjusted(4, 0, -4, 0);
    // The number alone where the title does not fit: "3" is better than "me…".
    const QString number = region.text.contains(QLatin1String("conventional"))
                               ? QStringLiteral("c")
                               : QString(region.text).remove(QStringLiteral("megakernel "));
    for (const QString& text : {region.text, number}) {
        const double width = metrics.horizontalAdvance(text);
        if (width <= room.width()) {
            if (region.hatched) {
                painter.fillRect(
                    QRectF(r.center().x() - width / 2 - 3, r.top() + 1, width + 6, r.height() - 2)
                        .intersected(r.adjusted(1, 1, -1, -1)),
                    theme.panel);
            }
            painter.drawText(room, Qt::AlignCenter, text);
            break;
        }
    }
}

void paintHandle(QPainter& painter, const StripPrimitive& handle) {
    const double x = handle.rect.center().x();
    const double radius = handle.accented ? kPinRadius + 1.5 : kPinRadius;
    painter.setPen(QPen(handle.colour, handle.accented ? 3 : 2, Qt::SolidLine, Qt::FlatCap));
    painter.drawLine(QPointF(x, handle.rect.top() + kPinRadius), QPointF(x, handle.rect.bottom()));
    painter.setPen(Qt::NoPen);
    painter.setBrush(handle.colour);
    painter.drawEllipse(QPointF(x, handle.rect.top() + kPinRadius), radius, radius);
}

void paintGhost(QPainter& painter, const StripPrimitive& ghost, const Theme& theme) {
    const double x = ghost.rect.center().x();
    painter.setPen(QPen(ghost.colour, 1, Qt::DashLine));
    painter.drawLine(QPointF(x, ghost.rect.top() + kLabelRow),
                     ghost.rect.center() + QPointF(0, ghost.rect.height() / 2));
    painter.setFont(textFont(11));
    painter.setPen(theme.muted);
    painter.drawText(QRectF(ghost.rect.left(), ghost.rect.top(), ghost.rect.width(), kLabelRow),
                     Qt::AlignCenter, ghost.text);
}

} // namespace

int stripHeight(int loopRows) {
    return static_cast<int>(kLabelRow + kPinRoom + kRegionRow + kRegionToBlocks + kBlockRow +
                            kLayerRow + kStageRow + loopRows * kStripLoopRow + 2);
}

StripRows rowsOf(const StripLayout& layout, QSizeF size) {
    const double spare = size.height() - stripHeight(layout.loop_rows);
    const double blockRow = std::clamp(kBlockRow + spare, kBlockRow, kBlockRowMost);
    StripRows rows;
    double y = 0;
    const auto row = [&](double height) {
        const QRectF rect(0, y, size.width(), height);
        y += height;
        return rect;
    };
    rows.labels = row(kLabelRow);
    y += kPinRoom;
    rows.regions = row(kRegionRow);
    y += kRegionToBlocks;
    rows.blocks = row(blockRow);
    rows.layers = row(kLayerRow);
    rows.stages = row(kStageRow);
    rows.loops_top = y;
    rows.bottom = y + layout.loop_rows * kStripLoopRow;
    return rows;
}

std::vector<StripPrimitive> fixedPrimitives(const graph::Chain& chain, const StripLayout& layout,
                                            const StripRows& rows, const Theme& theme) {
    std::vector<StripPrimitive> out;
    for (const StripBlock& block : layout.blocks) {
        const graph::ChainOp& op = chain.ops[block.op];
        out.push_back({.kind = StripPrimitive::Kind::Block,
                       .rect = {block.left, rows.blocks.top(), block.right - block.left,
                                rows.blocks.height()},
                       .colour = theme.op(workload::classOf(op.role)),
                       .text = QString::fromStdString(op.label),
                       .index = static_cast<int>(block.op)});
    }
    for (const StripStage& stage : layout.stages) {
        out.push_back({.kind = StripPrimitive::Kind::StageName,
                       .rect = {stage.left, rows.stages.top(), stage.right - stage.left,
                                rows.stages.height()},
                       .colour = theme.ink,
                       .text = stage.name,
                       .index = static_cast<int>(stage.stage)});
    }
    for (std::size_t i = 0; i < layout.loops.size(); ++i) {
        out.push_back({.kind = StripPrimitive::Kind::Bracket,
                       .rect = loopRect(layout.loops[i], rows),
                       .colour = theme.muted,
                       .text = {},
                       .index = static_cast<int>(i)});
    }
    return out;
}

std::vector<StripPrimitive> movingPrimitives(const StripLayout& layout,
                                             const std::vector<StripRegion>& regions,
                                             const StripRows& rows, const StripState& state,
                                             const Theme& theme) {
    using Kind = StripPrimitive::Kind;
    std::vector<StripPrimitive> out;
    const StripSelection& selection = state.selection;
    for (std::size_t i = 0; i < layout.loops.size(); ++i) {
        out.push_back(loopLabel(layout.loops[i], static_cast<int>(i), rows, state, theme));
    }
    for (std::size_t i = 0; i < regions.size(); ++i) {
        const StripRegion& region = regions[i];
        const bool selected = selection.kind == StripSelection::Kind::Region &&
                              selection.site == region.start && state.focused;
        out.push_back({.kind = Kind::Region,
                       .rect = {region.left, rows.regions.top(), region.right - region.left,
                                rows.regions.height()},
                       .colour = theme.ink,
                       .text = titleOf(region),
                       .index = static_cast<int>(i),
                       .hatched = region.mode == graph::Mode::Conventional,
                       .accented = selected});
        for (const graph::SiteIndex start : region.first_iteration_starts) {
            if (start != graph::kPathStart && modeAt(state.composition, start) != region.mode) {
                const bool conventional =
                    modeAt(state.composition, start) == graph::Mode::Conventional;
                const QString text = conventional ? QStringLiteral("first: conventional")
                                                  : QStringLiteral("first: megakernel");
                out.push_back({.kind = Kind::FirstOnly,
                               .rect = {xOf(layout, start) + 8, rows.labels.top(),
                                        QFontMetricsF(textFont(11)).horizontalAdvance(text) + 4,
                                        rows.labels.height()},
                               .colour = theme.muted,
                               .text = text,
                               .index = start,
                               .hatched = conventional});
            }
        }
    }
    for (const StripLoop& loop : layout.loops) {
        if (state.composition.cuts.contains(loop.back_site)) {
            out.push_back(
                {.kind = Kind::BackCut,
                 .rect = {loop.left - 3, rows.blocks.top() - 4, 2, rows.blocks.height() + 8},
                 .colour = theme.ink,
                 .text = {},
                 .index = loop.back_site});
        }
    }
    if (state.drag_start && state.dragged != state.drag_start) {
        const double x = xOf(layout, *state.drag_start);
        out.push_back(
            {.kind = Kind::Ghost,
             .rect = {x - 30, rows.labels.top(), 60, rows.blocks.bottom() - rows.labels.top() + 4},
             .colour = theme.muted,
             .text = QStringLiteral("was here"),
             .index = *state.drag_start});
    }
    for (const graph::SiteIndex site : handlesOf(layout, state.composition)) {
        const bool selected = selection.kind == StripSelection::Kind::Handle &&
                              selection.site == site && state.focused;
        const bool accented = selected || state.dragged == site || state.hovered_handle == site;
        const double x = xOf(layout, site);
        out.push_back({.kind = Kind::Handle,
                       .rect = {x - kStripGrab, rows.regions.top() - kPinRoom - 1, 2 * kStripGrab,
                                rows.blocks.bottom() - rows.regions.top() + kPinRoom + 5},
                       .colour = accented ? theme.accent : theme.ink,
                       .text = {},
                       .index = site,
                       .accented = accented});
    }
    return out;
}

void paintStrip(QPainter& painter, const std::vector<StripPrimitive>& primitives,
                const Theme& theme) {
    using Kind = StripPrimitive::Kind;
    painter.setRenderHint(QPainter::Antialiasing);
    for (const StripPrimitive& p : primitives) {
        switch (p.kind) {
        case Kind::Block:
            paintBlock(painter, p);
            break;
        case Kind::StageName:
            painter.setFont(textFont(12));
            painter.setPen(p.colour);
            drawElided(painter, p.rect, Qt::AlignCenter, p.text);
            break;
        case Kind::Bracket:
            paintBracket(painter, p);
            break;
        case Kind::LoopLabel:
            paintLoopLabel(painter, p, theme);
            break;
        case Kind::Region:
            paintRegion(painter, p, theme);
            break;
        case Kind::FirstOnly:
            painter.setFont(textFont(11));
            painter.setPen(p.colour);
            drawElided(painter, p.rect, Qt::AlignLeft | Qt::AlignVCenter, p.text);
            break;
        case Kind::BackCut:
            painter.setPen(QPen(p.colour, 1, Qt::DotLine));
            painter.drawLine(QPointF(p.rect.center().x(), p.rect.top()),
                             QPointF(p.rect.center().x(), p.rect.bottom()));
            break;
        case Kind::Ghost:
            paintGhost(painter, p, theme);
            break;
        case Kind::Handle:
            paintHandle(painter, p);
            break;
        }
    }
}

} // namespace kerf::views
