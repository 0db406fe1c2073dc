// SPDX-License-Identifier: GPL-3.0-or-later
// What runs, how far it is, and the way to stop it; in the status bar.
#pragma once

#include <QWidget>

class QLabel;
class QProgressBar;
class QToolButton;

namespace kerf::app {

class Job;

class JobStatus : public QWidget {
    Q_OBJECT
public:
    explicit JobStatus(Job& job, QWidget* parent = nullptr);

private:
    QLabel* label_ = nullptr;
    QProgressBar* bar_ = nullptr;
    QToolButton* cancel_ = nullptr;
    QString title_;
};

} // namespace kerf::app
