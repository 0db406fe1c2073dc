// SPDX-License-Identifier: GPL-3.0-or-later
// Errors and notices above the panels; never a modal box.
#pragma once

#include "core/base/error.h"

#include <QFrame>

class QLabel;

namespace kerf::app {

class MessageBar : public QFrame {
    Q_OBJECT
public:
    explicit MessageBar(QWidget* parent = nullptr);
    /// What in bold, then where and what to do. Stays until it is closed or replaced.
    void showError(const Error& error);
    void showNotice(const QString& text);
    [[nodiscard]] QString text() const; ///< as shown, without formatting

protected:
    void changeEvent(QEvent* event) override;

private:
    void restyle();

    QLabel* label_ = nullptr;
    bool is_error_ = false;
    QString plain_;
};

} // namespace kerf::app
