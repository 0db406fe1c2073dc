// SPDX-License-Identifier: GPL-3.0-or-later
// Mouse and keyboard of the composition strip. Drawing and state are in composition_strip.cpp.
#include "views/composition_strip.h"

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace kerf::views {
namespace {

using Kind = StripSelection::Kind;

/// The stretch that begins at `start`, rather than one that came round a loop.
const StripRegion* regionFrom(const std::vector<StripRegion>& regions, graph::SiteIndex start) {
    const StripRegion* found = nullptr;
    for (const StripRegion& region : regions) {
        if (region.start == start && (found == nullptr || found->continues)) {
            found = &region;
        }
    }
    return found;
}

/// Keys that must reach the strip although the window may use them as shortcuts.
bool isStripKey(int key) {
    return key == Qt::Key_S || key == Qt::Key_M || key == Qt::Key_C;
}

} // namespace

StripSelection CompositionStrip::target() const {
    return by_keyboard_ ? state_.selection : targetAt(pointer_);
}

double CompositionStrip::xOfSelection(const StripSelection& selection) const {
    if (selection.kind == Kind::Region) {
        const StripRegion* region = regionFrom(regions_, selection.site);
        return region != nullptr ? (region->left + region->right) / 2 : 0;
    }
    return xOf(layout_, selection.site);
}

std::vector<StripSelection> CompositionStrip::selectable() const {
    std::vector<std::pair<double, StripSelection>> strip;
    for (const StripRegion& region : regions_) {
        if (regionFrom(regions_, region.start) == &region) {
            strip.emplace_back((region.left + region.right) / 2,
                               StripSelection{Kind::Region, region.start});
        }
    }
    for (const graph::SiteIndex site : handlesOf(layout_, state_.composition)) {
        strip.emplace_back(xOf(layout_, site), StripSelection{Kind::Handle, site});
    }
    std::stable_sort(strip.begin(), strip.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<StripSelection> all;
    for (const auto& [x, selection] : strip) {
        all.push_back(selection);
    }
    for (const StripLoop& loop : layout_.loops) {
        if (loop.back_site != graph::kPathStart) {
            all.push_back({Kind::Loop, loop.back_site});
        }
    }
    return all;
}

bool CompositionStrip::walk(int direction, bool around) {
    const std::vector<StripSelection> all = selectable();
    if (all.empty()) {
        return false;
    }
    const int count = static_cast<int>(all.size());
    const auto found = std::find(all.begin(), all.end(), state_.selection);
    int next = found == all.end() ? (direction > 0 ? 0 : count - 1)
                                  : static_cast<int>(found - all.begin()) + direction;
    if (next < 0 || next >= count) {
        if (!around) {
            return false;
        }
        next = (next + count) % count;
    }
    select(all[static_cast<std::size_t>(next)]);
    return true;
}

bool CompositionStrip::focusNextPrevChild(bool next) {
    return walk(next ? 1 : -1, false) || QWidget::focusNextPrevChild(next);
}

void CompositionStrip::moveHandle(int direction) {
    StripSelection from = state_.selection;
    if (from.kind != Kind::Handle) {
        // The nearest handle on the side of the movement, else the nearest at all.
        const double x = xOfSelection(from);
        double best = -1;
        for (const graph::SiteIndex site : handlesOf(layout_, state_.composition)) {
            const double distance = std::abs(xOf(layout_, site) - x);
            if (best < 0 || distance < best) {
                best = distance;
                from = {Kind::Handle, site};
            }
        }
        if (from.kind != Kind::Handle) {
            return;
        }
    }
    if (const auto to = stepTarget(layout_, state_.composition, from.site, direction)) {
        commit(withCutMoved(state_.composition, from.site, *to), {Kind::Handle, *to});
    }
}

std::optional<graph::SiteIndex> CompositionStrip::siteToSplit() const {
    const StripSelection here = target();
    if (here.kind == Kind::None) {
        return std::nullopt;
    }
    if (here.kind == Kind::Loop) {
        return state_.composition.cuts.contains(here.site) ? std::nullopt
                                                           : std::optional(here.site);
    }
    const double x = by_keyboard_ ? xOfSelection(here) : pointer_.x();
    std::optional<graph::SiteIndex> best;
    for (const StripRegion& region : regions_) {
        // At a handle both neighbours may be split.
        const bool touches =
            here.kind == Kind::Handle
                ? x >= region.left - kStripGrab && x <= region.right + kStripGrab
                : &region == &regions_[static_cast<std::size_t>(regionAt(regions_, x))];
        const auto site =
            touches ? freeSiteNear(layout_, state_.composition, region, x) : std::nullopt;
        if (site &&
            (!best || std::abs(xOf(layout_, *site) - x) < std::abs(xOf(layout_, *best) - x))) {
            best = site;
        }
    }
    return best;
}

void CompositionStrip::splitAtSelection() {
    const auto site = siteToSplit();
    if (!site || dragging()) {
        return;
    }
    if (target().kind == Kind::Loop) {
        toggleLoop(*site);
        return;
    }
    const int region = regionAt(regions_, xOf(layout_, *site));
    commit(withCut(state_.composition, *site, regions_[static_cast<std::size_t>(region)].mode),
           {Kind::Handle, *site});
}

std::optional<graph::SiteIndex> CompositionStrip::cutToMerge() const {
    const StripSelection here = target();
    if (here.kind == Kind::Region && here.site == graph::kPathStart) {
        // The first region has no cut at its start: it merges with what follows.
        const auto handles = handlesOf(layout_, state_.composition);
        return handles.empty() ? std::nullopt : std::optional(handles.front());
    }
    if (here.kind == Kind::None || !state_.composition.cuts.contains(here.site)) {
        return std::nullopt;
    }
    return here.site;
}

void CompositionStrip::mergeAtSelection() {
    const auto cut = cutToMerge();
    if (!cut || dragging()) {
        return;
    }
    const StripSelection here = target();
    const double x = xOf(layout_, *cut);
    const graph::Composition merged = withoutCut(state_.composition, *cut);
    StripSelection next = here;
    if (here.kind != Kind::Loop) {
        const auto regions = regionsOnStrip(*chain(), layout_, merged);
        next = {Kind::Region, regions[static_cast<std::size_t>(regionAt(regions, x))].start};
    }
    commit(merged, next);
}

void CompositionStrip::toggleModeAtSelection() {
    const StripSelection here = target();
    if (here.kind == Kind::None || dragging()) {
        return;
    }
    if (here.kind == Kind::Loop) {
        toggleLoop(here.site);
        return;
    }
    const StripRegion* region = regionFrom(regions_, here.site);
    commit(region != nullptr ? withModeToggled(state_.composition, *region)
                             : withModeToggled(state_.composition, here.site),
           here);
}

void CompositionStrip::toggleLoop(graph::SiteIndex backSite) {
    if (state_.composition.cuts.contains(backSite)) {
        commit(withoutCut(state_.composition, backSite), {Kind::Loop, backSite});
        return;
    }
    // Each iteration keeps the mode that the loop's start has now.
    const int region = regionAt(regions_, xOf(layout_, backSite) + 1);
    commit(withCut(state_.composition, backSite, regions_[static_cast<std::size_t>(region)].mode),
           {Kind::Loop, backSite});
}

void CompositionStrip::hoverAt(QPointF position) {
    pointer_ = position;
    by_keyboard_ = false;
    const auto handle = handleAt(position);
    const StripLoop* loop = loopAt(position);
    if (handle) {
        setCursor(Qt::SizeHorCursor);
    } else if (loop != nullptr && loop->back_site != graph::kPathStart) {
        setCursor(Qt::PointingHandCursor);
    } else {
        unsetCursor();
    }
    if (handle != state_.hovered_handle) {
        state_.hovered_handle = handle;
        emit siteHovered(handle.value_or(-1));
        update();
    }
}

void CompositionStrip::mousePressEvent(QMouseEvent* event) {
    if (chain() == nullptr || event->button() != Qt::LeftButton) {
        return;
    }
    pointer_ = event->position();
    const StripSelection at = targetAt(event->position());
    select(at);
    if (at.kind == Kind::Handle) {
        before_drag_ = state_.composition;
        state_.dragged = at.site;
        state_.drag_start = at.site;
        grab_offset_ = xOf(layout_, at.site) - event->position().x();
    } else if (at.kind == Kind::Loop) {
        toggleLoop(at.site);
    }
    // A click means the place that was clicked, not the middle of what it selected.
    by_keyboard_ = at.kind == Kind::Loop || at.kind == Kind::Handle;
}

void CompositionStrip::mouseMoveEvent(QMouseEvent* event) {
    if (dragging()) {
        dragTo(event->position().x() + grab_offset_);
    } else if (event->buttons() == Qt::NoButton) {
        hoverAt(event->position());
    }
}

void CompositionStrip::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !dragging()) {
        return;
    }
    dragTo(event->position().x() + grab_offset_);
    state_.dragged.reset();
    state_.drag_start.reset();
    describe();
    update();
    if (state_.composition != before_drag_) {
        emit compositionCommitted(before_drag_, state_.composition);
    }
}

void CompositionStrip::mouseDoubleClickEvent(QMouseEvent* event) {
    const StripSelection at = targetAt(event->position());
    if (event->button() != Qt::LeftButton || at.kind == Kind::Handle || at.kind == Kind::Loop) {
        mousePressEvent(event); // the second of two quick clicks
        return;
    }
    pointer_ = event->position();
    by_keyboard_ = false;
    if (rows_.blocks.contains(event->position())) {
        splitAtSelection();
    } else if (rows_.regions.contains(event->position())) {
        toggleModeAtSelection();
    }
}

void CompositionStrip::leaveEvent(QEvent*) {
    if (state_.hovered_handle && !dragging()) {
        state_.hovered_handle.reset();
        emit siteHovered(-1);
        update();
    }
}

void CompositionStrip::keyPressEvent(QKeyEvent* event) {
    const bool move = (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier)) != 0;
    const int key = event->key();
    if (dragging()) {
        if (key == Qt::Key_Escape) {
            cancelDrag();
        }
        return; // nothing else may change what is being dragged
    }
    if (key == Qt::Key_Left || key == Qt::Key_Right) {
        const int direction = key == Qt::Key_Left ? -1 : 1;
        if (move || state_.selection.kind == Kind::Handle) {
            moveHandle(direction);
        } else {
            walk(direction, true);
        }
    } else if (key == Qt::Key_Up || key == Qt::Key_Down) {
        walk(key == Qt::Key_Up ? -1 : 1, true);
    } else if (key == Qt::Key_Home || key == Qt::Key_End) {
        state_.selection = {};
        walk(key == Qt::Key_Home ? 1 : -1, true);
    } else if (!move && key == Qt::Key_S) {
        splitAtSelection();
    } else if (!move && (key == Qt::Key_M || key == Qt::Key_Delete || key == Qt::Key_Backspace)) {
        mergeAtSelection();
    } else if (!move && (key == Qt::Key_C || key == Qt::Key_Space || key == Qt::Key_Return)) {
        toggleModeAtSelection();
    } else {
        QWidget::keyPressEvent(event);
    }
}

void CompositionStrip::contextMenuEvent(QContextMenuEvent* event) {
    if (chain() == nullptr || dragging()) {
        return;
    }
    if (event->reason() == QContextMenuEvent::Mouse) {
        select(targetAt(QPointF(event->pos())));
        pointer_ = QPointF(event->pos());
        by_keyboard_ = state_.selection.kind == Kind::Loop;
    }
    const StripSelection here = target();
    delete menu_;
    menu_ = new QMenu(this);
    menu_->setAttribute(Qt::WA_DeleteOnClose);
    const auto add = [&](const QString& text, const QString& key, bool possible, auto slot) {
        QAction* action = menu_->addAction(text + u'\t' + key, this, slot);
        action->setEnabled(possible);
    };
    if (here.kind == Kind::Loop) {
        const bool cut = state_.composition.cuts.contains(here.site);
        add(cut ? QStringLiteral("Fuse iterations") : QStringLiteral("Cut each iteration"),
            QStringLiteral("C"), true, &CompositionStrip::toggleModeAtSelection);
    } else {
        add(QStringLiteral("Split here"), QStringLiteral("S"), siteToSplit().has_value(),
            &CompositionStrip::splitAtSelection);
        add(here.kind == Kind::Handle ? QStringLiteral("Remove this cut")
                                      : QStringLiteral("Merge with the neighbour"),
            QStringLiteral("M"), cutToMerge().has_value(), &CompositionStrip::mergeAtSelection);
        const bool megakernel = modeAt(state_.composition, here.site) == graph::Mode::Megakernel;
        add(megakernel ? QStringLiteral("Run as conventional kernels")
                       : QStringLiteral("Run as a megakernel"),
            QStringLiteral("C"), here.kind != Kind::None, &CompositionStrip::toggleModeAtSelection);
    }
    menu_->popup(event->globalPos());
}

bool CompositionStrip::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        QToolTip::showText(help->globalPos(), toolTipAt(QPointF(help->pos())), this);
        return true;
    }
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool plain = key->modifiers() == Qt::NoModifier;
        if ((dragging() && key->key() == Qt::Key_Escape) || (plain && isStripKey(key->key()))) {
            event->accept();
            return true;
        }
    }
    return QWidget::event(event);
}

void CompositionStrip::focusInEvent(QFocusEvent* event) {
    state_.focused = true;
    if (event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason) {
        state_.selection = {};
        walk(event->reason() == Qt::TabFocusReason ? 1 : -1, false);
    }
    update();
}

void CompositionStrip::focusOutEvent(QFocusEvent*) {
    state_.focused = false;
    update();
}

void CompositionStrip::hideEvent(QHideEvent*) {
    cancelDrag();
}

} // namespace kerf::views
