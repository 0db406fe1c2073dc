// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panel.h"

#include "views/drawing.h"
#include "views/theme.h"

#include <QEvent>
#include <QFontMetricsF>
#include <QPainter>
#include <QVBoxLayout>

namespace kerf::views {
namespace {
constexpr int kTitleHeight = 32;
constexpr int kMargin = 14;
} // namespace

Panel::Panel(const QString& title, const QString& hint, QWidget* parent)
    : QFrame(parent), title_(title), hint_(hint) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kMargin, kTitleHeight, kMargin, 10);
    setAccessibleName(title);
}

void Panel::setContent(QWidget* content) {
    if (content_ == content) {
        return;
    }
    delete content_;
    content_ = content;
    if (content != nullptr) {
        layout()->addWidget(content);
    }
}

void Panel::setTitle(const QString& title) {
    title_ = title;
    setAccessibleName(title);
    update();
}

void Panel::setHint(const QString& hint) {
    hint_ = hint;
    update();
}

void Panel::paintEvent(QPaintEvent*) {
    const Theme& theme = currentTheme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.line, 1));
    painter.setBrush(theme.panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);

    const QRectF line(kMargin, 8, width() - 2 * kMargin, kTitleHeight - 12);
    painter.setFont(textFont(12, QFont::DemiBold));
    painter.setPen(theme.muted);
    const qreal titleWidth = QFontMetricsF(painter.font(), this).horizontalAdvance(title_) + 16;
    drawElided(painter, line, Qt::AlignLeft | Qt::AlignVCenter, title_);
    painter.setFont(textFont(12));
    drawElided(painter, line.adjusted(titleWidth, 0, 0, 0), Qt::AlignRight | Qt::AlignVCenter,
               hint_);
}

void Panel::changeEvent(QEvent* event) {
    QFrame::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        update();
    }
}

} // namespace kerf::views
