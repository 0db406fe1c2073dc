// SPDX-License-Identifier: GPL-3.0-or-later
// Small drawing helpers that all painters share.
#pragma once

#include <QBrush>
#include <QPainter>
#include <QRectF>
#include <QString>

namespace kerf::views {

/// Diagonal hatch (conventional, idle, ties): lines of `colour`, 1 px wide and 7 px apart, clipped
/// to `rect`. Drawn as lines so that it stays sharp at fractional pixel ratios and in PDF.
void drawHatch(QPainter& painter, const QRectF& rect, const QColor& colour);

/// `text` elided to `rect`; nothing at all where less than two letters would fit.
/// True where the whole text was drawn.
bool drawElided(QPainter& painter, const QRectF& rect, Qt::Alignment alignment,
                const QString& text);

/// An empty, loading or error state: a headline and below it, muted, the one thing to do.
void drawEmptyState(QPainter& painter, const QRectF& rect, const QString& headline,
                    const QString& advice);

/// Black or white, whichever is easier to read on `ground`.
[[nodiscard]] QColor textOn(const QColor& ground);

/// "1.23 ms", "845 µs": three significant figures with the unit that reads best.
[[nodiscard]] QString formatTime(double us);
/// "+2.9 %" or "−2.9 %" with a real minus; `fraction` 0.029 = 2.9 %.
[[nodiscard]] QString formatSignedPercent(double fraction);

} // namespace kerf::views
