// SPDX-License-Identifier: GPL-3.0-or-later
// A dock that looks like a panel: title left, hint right, 6 px corners, a 1 px line.
#pragma once

#include <QDockWidget>

class QLabel;

namespace kerf::app {

class PanelDock : public QDockWidget {
    Q_OBJECT
public:
    /// `name` is the objectName that saved layouts refer to. Takes `view`.
    PanelDock(const QString& name, const QString& title, const QString& hint, QWidget* view,
              QWidget* parent = nullptr);
    void setHint(const QString& hint);
    [[nodiscard]] QWidget* view() const { return view_; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void restyle();

    QLabel* title_ = nullptr;
    QLabel* hint_ = nullptr;
    QWidget* view_ = nullptr;
};

} // namespace kerf::app
