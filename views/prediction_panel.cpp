// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/prediction_panel.h"

#include "views/drawing.h"
#include "views/theme.h"

#include <QEvent>
#include <QFontMetricsF>
#include <QPainter>

namespace kerf::views {
namespace {

constexpr qreal kNumberRow = 50;
constexpr qreal kRow = 20;
constexpr qreal kFooterRow = 20;

QColor colourOf(Tone tone, const Theme& theme) {
    switch (tone) {
    case Tone::Better:
        return theme.better;
    case Tone::Worse:
        return theme.worse;
    case Tone::Plain:
        break;
    }
    return theme.ink;
}

void paintBadge(QPainter& painter, QPointF leftMiddle, const QString& text, const Theme& theme) {
    painter.setFont(textFont(11));
    const qreal width = QFontMetricsF(painter.font()).horizontalAdvance(text) + 12;
    const QRectF badge(leftMiddle.x(), leftMiddle.y() - 8.5, width, 17);
    painter.setPen(QPen(theme.muted, 1, Qt::DashLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(badge, 4, 4);
    painter.setPen(theme.muted);
    painter.drawText(badge, Qt::AlignCenter, text);
}

void paintNumber(QPainter& painter, const QRectF& row, const PredictionTexts& texts,
                 const PredictionPanelState& state, const Theme& theme) {
    const bool stale = !state.busyText.isEmpty();
    painter.setFont(numberFont(44, true));
    painter.setPen(stale ? theme.muted : theme.ink);
    const QFontMetricsF big(painter.font());
    const qreal baseline = row.top() + big.capHeight() + 6;
    painter.drawText(QPointF(row.left(), baseline), texts.number);
    qreal x = row.left() + big.horizontalAdvance(texts.number) + 10;

    painter.setFont(numberFont(15));
    const QFontMetricsF small(painter.font());
    qreal right = row.right();
    const qreal spreadWidth = small.horizontalAdvance(texts.spread);
    const qreal unitWidth = small.horizontalAdvance(texts.unit);
    painter.setPen(theme.muted);
    painter.drawText(QPointF(x, baseline), texts.unit);
    x += unitWidth + 10;
    if (!texts.spread.isEmpty() && right - spreadWidth > x) {
        painter.drawText(QPointF(right - spreadWidth, baseline), texts.spread);
        right -= spreadWidth + 10;
    } else if (!texts.spread.isEmpty()) {
        painter.drawText(QPointF(x - unitWidth - 10, baseline - small.height()), texts.spread);
    }
    if (state.estimated && right - x > 40) {
        paintBadge(painter, {x, baseline - small.capHeight() / 2}, QStringLiteral("est."), theme);
    }
}

void paintRow(QPainter& painter, const QRectF& row, const PredictionTexts::Row& texts,
              const Theme& theme) {
    painter.setFont(numberFont(13, true));
    painter.setPen(colourOf(texts.tone, theme));
    const QString value =
        texts.note.isEmpty() ? texts.difference : texts.difference + u' ' + u' ' + texts.note;
    const qreal width = QFontMetricsF(painter.font()).horizontalAdvance(value);
    painter.drawText(row, Qt::AlignRight | Qt::AlignVCenter, value);
    painter.setFont(textFont(13));
    painter.setPen(theme.muted);
    drawElided(painter, row.adjusted(0, 0, -width - 12, 0), Qt::AlignLeft | Qt::AlignVCenter,
               texts.label);
}

} // namespace

PredictionPanel::PredictionPanel(QWidget* parent) : QWidget(parent) {
    setAccessibleName(QStringLiteral("Prediction"));
    setState({});
}

void PredictionPanel::setState(const PredictionPanelState& state) {
    const bool rowsChanged = state.rows.size() != state_.rows.size();
    state_ = state;
    texts_ = textsOf(state_);
    setAccessibleDescription(texts_.summary);
    setToolTip(state.provenance.isEmpty() ? QString()
                                          : QStringLiteral("<qt>%1</qt>")
                                                .arg(state.provenance.toHtmlEscaped().replace(
                                                    u'\n', QStringLiteral("<br>"))));
    if (rowsChanged) {
        updateGeometry();
    }
    update();
}

QSize PredictionPanel::sizeHint() const {
    return {320, static_cast<int>(kNumberRow + kRow * static_cast<qreal>(state_.rows.size()) +
                                  kFooterRow + 4)};
}

QSize PredictionPanel::minimumSizeHint() const {
    return {240, static_cast<int>(kNumberRow + kFooterRow)};
}

void PredictionPanel::paintEvent(QPaintEvent*) {
    const Theme& theme = currentTheme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF area = rect();
    if (texts_.number.isEmpty()) {
        const QString headline = !state_.busyText.isEmpty() ? state_.busyText : texts_.summary;
        drawEmptyState(painter, area, headline,
                       state_.footer.isEmpty()
                           ? QStringLiteral("The time to first output of the composition on the "
                                            "strip appears here.")
                           : state_.footer);
        return;
    }
    paintNumber(painter, QRectF(area.left(), area.top(), area.width(), kNumberRow), texts_, state_,
                theme);
    const qreal footerTop = area.bottom() - kFooterRow;
    qreal y = area.top() + kNumberRow;
    for (const PredictionTexts::Row& row : texts_.rows) {
        if (y + kRow > footerTop) {
            break;
        }
        paintRow(painter, QRectF(area.left(), y, area.width(), kRow), row, theme);
        y += kRow;
    }
    const QRectF footer(area.left(), footerTop, area.width(), kFooterRow);
    painter.setFont(numberFont(12));
    painter.setPen(state_.busyText.isEmpty() ? theme.muted : theme.accent);
    drawElided(painter, footer, Qt::AlignLeft | Qt::AlignVCenter,
               state_.busyText.isEmpty() ? state_.footer : state_.busyText);
}

void PredictionPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        update();
    }
}

} // namespace kerf::views
