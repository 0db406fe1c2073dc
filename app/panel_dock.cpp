// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/panel_dock.h"

#include "views/theme.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

namespace kerf::app {

namespace {

/// Gives way before the title does.
class HintLabel : public QLabel {
public:
    using QLabel::QLabel;
    [[nodiscard]] QSize minimumSizeHint() const override {
        return {0, QLabel::minimumSizeHint().height()};
    }

protected:
    void paintEvent(QPaintEvent* /*event*/) override {
        QPainter painter(this);
        painter.setPen(palette().color(QPalette::WindowText));
        painter.drawText(rect(), Qt::AlignRight | Qt::AlignVCenter,
                         fontMetrics().elidedText(text(), Qt::ElideRight, width()));
    }
};

void colour(QLabel& label, const QColor& ink) {
    QPalette palette = label.palette();
    palette.setColor(QPalette::WindowText, ink);
    label.setPalette(palette);
}

} // namespace

PanelDock::PanelDock(const QString& name, const QString& title, const QString& hint, QWidget* view,
                     QWidget* parent)
    : QDockWidget(title, parent), title_(new QLabel(title)), hint_(new HintLabel(hint)),
      view_(view) {
    setObjectName(name);
    setFeatures(DockWidgetMovable | DockWidgetClosable | DockWidgetFloatable);
    auto* bar = new QWidget;
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(13, 9, 13, 3);
    row->setSpacing(16);
    row->addWidget(title_);
    row->addWidget(hint_, 1);
    setTitleBarWidget(bar);
    auto* body = new QWidget;
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(9, 2, 9, 9);
    column->addWidget(view);
    setWidget(body);
    restyle();
}

void PanelDock::setHint(const QString& hint) {
    hint_->setText(hint);
    hint_->update();
}

void PanelDock::restyle() {
    const auto& theme = views::currentTheme();
    title_->setFont(views::textFont(12, QFont::DemiBold));
    hint_->setFont(views::textFont(12));
    colour(*title_, theme.muted);
    colour(*hint_, theme.muted);
    update();
}

void PanelDock::changeEvent(QEvent* event) {
    QDockWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) {
        restyle();
    }
}

void PanelDock::paintEvent(QPaintEvent* /*event*/) {
    const auto& theme = views::currentTheme();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme.line, 1));
    painter.setBrush(theme.panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
}

} // namespace kerf::app
