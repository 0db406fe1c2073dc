// SPDX-License-Identifier: GPL-3.0-or-later
// The frame around a view: title left, hint right, 6 px corners, a 1 px line.
#pragma once

#include <QFrame>

namespace kerf::views {

class Panel : public QFrame {
    Q_OBJECT
public:
    explicit Panel(const QString& title, const QString& hint = {}, QWidget* parent = nullptr);

    /// The view in the frame; owned by the panel, replaces the one before.
    void setContent(QWidget* content);
    [[nodiscard]] QWidget* content() const { return content_; }
    void setTitle(const QString& title);
    void setHint(const QString& hint);
    [[nodiscard]] QString title() const { return title_; }
    [[nodiscard]] QString hint() const { return hint_; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QString title_;
    QString hint_;
    QWidget* content_ = nullptr;
};

} // namespace kerf::views
