// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/composition_strip.h"

#include "views/composition_strip_text.h"
#include "views/drawing.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace kerf::views {
namespace {
constexpr double kSideMargin = 8; ///< room for a pin at either end
using Kind = StripSelection::Kind;
} // namespace

CompositionStrip::CompositionStrip(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    setAccessibleName(QStringLiteral("Composition"));
    state_.composition = graph::fullyConventional();
    describe();
}

const graph::Chain* CompositionStrip::chain() const {
    return case_ != nullptr && !case_->chain.ops.empty() ? &case_->chain : nullptr;
}

void CompositionStrip::setCase(std::shared_ptr<const search::Case> theCase) {
    state_.dragged.reset();
    state_.drag_start.reset();
    state_.hovered_handle.reset();
    case_ = std::move(theCase);
    graph::Composition composition = state_.composition;
    const auto sites = chain() != nullptr ? graph::pathEnd(*chain()) : 0;
    std::erase_if(composition.cuts, [&](const auto& cut) { return cut.first >= sites; });
    state_.composition = std::move(composition);
    relayout();
    updateGeometry();
}

void CompositionStrip::setComposition(const graph::Composition& composition) {
    if (composition == state_.composition) {
        return;
    }
    state_.dragged.reset();
    state_.drag_start.reset();
    present(composition);
}

std::vector<StripPrimitive> CompositionStrip::primitives() const {
    if (chain() == nullptr) {
        return {};
    }
    const Theme& theme = currentTheme();
    std::vector<StripPrimitive> all = fixedPrimitives(*chain(), layout_, rows_, theme);
    const auto moving = movingPrimitives(layout_, regions_, rows_, state_, theme);
    all.insert(all.end(), moving.begin(), moving.end());
    return all;
}

QSize CompositionStrip::sizeHint() const {
    return {960, stripHeight(std::max(layout_.loop_rows, 1))};
}

QSize CompositionStrip::minimumSizeHint() const {
    return {320, stripHeight(std::max(layout_.loop_rows, 1))};
}

void CompositionStrip::relayout() {
    layout_ = {};
    if (chain() != nullptr) {
        std::vector<std::string> names;
        for (const workload::Stage& stage : case_->traced.stages) {
            names.push_back(stage.name);
        }
        layout_ = layOut(*chain(), names, kSideMargin, std::max(width() - 2 * kSideMargin, 16.0));
    }
    rows_ = rowsOf(layout_, size());
    fixed_ = {};
    present(state_.composition);
}

void CompositionStrip::present(graph::Composition composition) {
    state_.composition = std::move(composition);
    regions_ = chain() != nullptr ? regionsOnStrip(*chain(), layout_, state_.composition)
                                  : std::vector<StripRegion>{};
    if (state_.selection.kind != Kind::None) {
        const std::vector<StripSelection> all = selectable();
        if (std::find(all.begin(), all.end(), state_.selection) == all.end()) {
            state_.selection = {};
        }
    }
    if (!dragging()) {
        describe();
    }
    update();
}

void CompositionStrip::commit(graph::Composition after, const StripSelection& selection) {
    if (after == state_.composition) {
        return;
    }
    const graph::Composition before = state_.composition;
    present(std::move(after));
    select(selection);
    emit compositionCommitted(before, state_.composition);
}

void CompositionStrip::select(const StripSelection& selection) {
    state_.selection = selection;
    by_keyboard_ = true;
    describe();
    update();
}

void CompositionStrip::describe() {
    if (chain() == nullptr) {
        setAccessibleDescription(
            QStringLiteral("Nothing to cut yet. Open a recording or project."));
        return;
    }
    QString text = summaryOf(*chain(), layout_, regions_);
    if (state_.selection.kind == Kind::Handle || state_.selection.kind == Kind::Loop) {
        const auto& site = chain()->sites[static_cast<std::size_t>(state_.selection.site)];
        text += QStringLiteral(". Selected: cut ") + QString::fromStdString(site.label);
    } else if (state_.selection.kind == Kind::Region) {
        for (const StripRegion& region : regions_) {
            if (region.start == state_.selection.site) {
                text += QStringLiteral(". Selected: ") + titleOf(region);
                break;
            }
        }
    }
    setAccessibleDescription(text);
}

void CompositionStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    if (chain() == nullptr) {
        drawEmptyState(painter, rect(), QStringLiteral("Nothing to cut yet"),
                       QStringLiteral("Open a recording or a project: its path appears here as "
                                      "blocks, with handles to cut it into megakernels."));
        return;
    }
    const Theme& theme = currentTheme();
    const qreal ratio = devicePixelRatioF();
    if (fixed_.isNull() || !qFuzzyCompare(fixed_.devicePixelRatio(), ratio)) {
        fixed_ = QPixmap((QSizeF(size()) * ratio).toSize());
        fixed_.setDevicePixelRatio(ratio);
        fixed_.fill(Qt::transparent);
        QPainter cache(&fixed_);
        paintStrip(cache, fixedPrimitives(*chain(), layout_, rows_, theme), theme);
    }
    painter.drawPixmap(QPointF(0, 0), fixed_);
    paintStrip(painter, movingPrimitives(layout_, regions_, rows_, state_, theme), theme);
}

void CompositionStrip::resizeEvent(QResizeEvent*) {
    relayout();
}

void CompositionStrip::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        fixed_ = {};
        update();
    }
}

std::optional<graph::SiteIndex> CompositionStrip::handleAt(QPointF position) const {
    std::optional<graph::SiteIndex> best;
    double bestDistance = kStripGrab;
    for (const graph::SiteIndex site : handlesOf(layout_, state_.composition)) {
        const double distance = std::abs(xOf(layout_, site) - position.x());
        if (distance <= bestDistance && position.y() >= rows_.labels.top() &&
            position.y() <= rows_.blocks.bottom() + 4) {
            best = site;
            bestDistance = distance;
        }
    }
    return best;
}

const StripLoop* CompositionStrip::loopAt(QPointF position) const {
    if (chain() == nullptr || position.y() < rows_.blocks.bottom()) {
        return nullptr;
    }
    for (const StripPrimitive& p :
         movingPrimitives(layout_, regions_, rows_, state_, currentTheme())) {
        if (p.kind == StripPrimitive::Kind::LoopLabel && p.rect.contains(position)) {
            return &layout_.loops[static_cast<std::size_t>(p.index)];
        }
    }
    return nullptr;
}

StripSelection CompositionStrip::targetAt(QPointF position) const {
    if (const auto handle = handleAt(position)) {
        return {Kind::Handle, *handle};
    }
    if (const StripLoop* loop = loopAt(position)) {
        return loop->back_site == graph::kPathStart ? StripSelection{}
                                                    : StripSelection{Kind::Loop, loop->back_site};
    }
    const int region = regionAt(regions_, position.x());
    return region < 0
               ? StripSelection{}
               : StripSelection{Kind::Region, regions_[static_cast<std::size_t>(region)].start};
}

QString CompositionStrip::toolTipAt(QPointF position) const {
    if (chain() == nullptr) {
        return {};
    }
    if (const StripLoop* loop = loopAt(position)) {
        return loopToolTip(*loop, state_.composition.cuts.contains(loop->back_site));
    }
    const auto handle = handleAt(position);
    if (handle &&
        (position.y() < rows_.blocks.top() || std::abs(xOf(layout_, *handle) - position.x()) < 3)) {
        return siteToolTip(*chain(), *handle);
    }
    if (rows_.blocks.contains(position)) {
        for (const StripBlock& block : layout_.blocks) {
            if (position.x() >= block.left && position.x() < block.right) {
                return opToolTip(*case_, block.op);
            }
        }
    }
    if (const int region = regionAt(regions_, position.x());
        region >= 0 && rows_.regions.contains(position)) {
        return regionToolTip(*case_, layout_, regions_[static_cast<std::size_t>(region)]);
    }
    return {};
}

void CompositionStrip::dragTo(double x) {
    const graph::SiteIndex from = *state_.dragged;
    const graph::SiteIndex to = dragTarget(layout_, state_.composition, from, x);
    if (to == from) {
        return;
    }
    state_.dragged = to;
    state_.selection = {Kind::Handle, to};
    present(withCutMoved(state_.composition, from, to));
    emit siteHovered(to);
    emit compositionEdited(state_.composition);
}

void CompositionStrip::cancelDrag() {
    if (!dragging()) {
        return;
    }
    const graph::SiteIndex start = *state_.drag_start;
    state_.dragged.reset();
    state_.drag_start.reset();
    const bool changed = state_.composition != before_drag_;
    present(before_drag_);
    select({Kind::Handle, start});
    if (changed) {
        emit compositionEdited(state_.composition);
    }
}

} // namespace kerf::views
