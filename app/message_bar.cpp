// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/message_bar.h"

#include "views/theme.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace kerf::app {

MessageBar::MessageBar(QWidget* parent) : QFrame(parent), label_(new QLabel) {
    setObjectName("messageBar");
    label_->setWordWrap(true);
    label_->setTextFormat(Qt::RichText);
    label_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    auto* close = new QToolButton;
    close->setText(tr("Close"));
    close->setAutoRaise(true);
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(12, 5, 8, 5);
    row->addWidget(label_, 1);
    row->addWidget(close, 0, Qt::AlignTop);
    hide();
}

void MessageBar::showError(const Error& error) {
    is_error_ = true;
    plain_ = QString::fromStdString(kerf::toString(error));
    const auto escaped = [](const std::string& s) {
        return QString::fromStdString(s).toHtmlEscaped();
    };
    QString html = "<b>" + escaped(error.what) + "</b>";
    if (!error.where.empty()) {
        html += " — " + escaped(error.where);
    }
    if (!error.advice.empty()) {
        html += "<br>" + escaped(error.advice);
    }
    label_->setText(html);
    setAccessibleName(plain_);
    restyle();
    show();
}

void MessageBar::showNotice(const QString& text) {
    is_error_ = false;
    plain_ = text;
    label_->setText(text.toHtmlEscaped());
    setAccessibleName(plain_);
    restyle();
    show();
}

QString MessageBar::text() const {
    return plain_;
}

void MessageBar::restyle() {
    const auto& theme = views::currentTheme();
    const QString sheet =
        QString("#messageBar { background: %1; border: 1px solid %2; border-left: 4px solid %2; "
                "border-radius: 6px; margin: 0 8px; } #messageBar QLabel { color: %3; }")
            .arg(theme.panel.name(), (is_error_ ? theme.worse : theme.accent).name(),
                 theme.ink.name());
    if (sheet != styleSheet()) { // setting it changes palettes, which would come back here
        setStyleSheet(sheet);
    }
}

void MessageBar::changeEvent(QEvent* event) {
    QFrame::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && !styleSheet().isEmpty()) {
        restyle();
    }
}

} // namespace kerf::app
