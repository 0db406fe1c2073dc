// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/drawing.h"

#include "views/theme.h"

#include <QFontMetricsF>

#include <cmath>

namespace kerf::views {

void drawHatch(QPainter& painter, const QRectF& rect, const QColor& colour) {
    constexpr qreal kStep = 7;
    painter.save();
    painter.setClipRect(rect, Qt::IntersectClip);
    painter.setPen(QPen(colour, 1));
    // Anchored to the origin, so that neighbouring hatches run into each other.
    const qreal first = std::floor((rect.left() + rect.top()) / kStep) * kStep;
    for (qreal sum = first; sum < rect.right() + rect.bottom() + kStep; sum += kStep) {
        painter.drawLine(QPointF(sum - rect.top(), rect.top()),
                         QPointF(sum - rect.bottom(), rect.bottom()));
    }
    painter.restore();
}

bool drawElided(QPainter& painter, const QRectF& rect, Qt::Alignment alignment,
                const QString& text) {
    const QFontMetricsF metrics(painter.font(), painter.device());
    const QString shown = metrics.elidedText(text, Qt::ElideRight, rect.width());
    if (shown.size() < 3 && shown != text) {
        return false;
    }
    painter.drawText(rect, static_cast<int>(alignment) | Qt::TextSingleLine, shown);
    return shown == text;
}

void drawEmptyState(QPainter& painter, const QRectF& rect, const QString& headline,
                    const QString& advice) {
    const Theme& theme = currentTheme();
    const QRectF upper(rect.left() + 16, rect.top(), rect.width() - 32, rect.height() / 2 - 2);
    const QRectF lower(upper.left(), rect.center().y() + 2, upper.width(), rect.height() / 2 - 2);
    painter.setFont(textFont(13, QFont::DemiBold));
    painter.setPen(theme.ink);
    painter.drawText(upper, Qt::AlignHCenter | Qt::AlignBottom | Qt::TextWordWrap, headline);
    painter.setFont(textFont(12));
    painter.setPen(theme.muted);
    painter.drawText(lower, Qt::AlignHCenter | Qt::AlignTop | Qt::TextWordWrap, advice);
}

QColor textOn(const QColor& ground) {
    const auto linear = [](double part) {
        return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
    };
    const double luminance = 0.2126 * linear(ground.redF()) + 0.7152 * linear(ground.greenF()) +
                             0.0722 * linear(ground.blueF());
    // WCAG contrast with white is 1.05 / (L + 0.05), with black (L + 0.05) / 0.05.
    return 1.05 * 0.05 > (luminance + 0.05) * (luminance + 0.05) ? QColor(Qt::white)
                                                                 : QColor(Qt::black);
}

QString formatTime(double us) {
    const auto threeFigures = [](double value) {
        const double size = std::abs(value);
        return QString::number(value, 'f', size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
    };
    if (std::abs(us) >= 999.5e3) {
        return threeFigures(us / 1e6) + QStringLiteral(" s");
    }
    if (std::abs(us) >= 999.5) {
        return threeFigures(us / 1e3) + QStringLiteral(" ms");
    }
    return threeFigures(us) + QStringLiteral(" µs");
}

QString formatSignedPercent(double fraction) {
    const QString size = QString::number(std::abs(fraction) * 100, 'f', 1);
    const bool zero = size == QLatin1String("0.0");
    const QString sign = zero           ? QStringLiteral("±")
                         : fraction < 0 ? QStringLiteral("−")
                                        : QStringLiteral("+");
    return sign + size + QStringLiteral(" %");
}

} // namespace kerf::views
