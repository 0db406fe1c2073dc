// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/job_status.h"

#include "app/background.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QToolButton>

namespace kerf::app {

JobStatus::JobStatus(Job& job, QWidget* parent)
    : QWidget(parent), label_(new QLabel), bar_(new QProgressBar), cancel_(new QToolButton) {
    setObjectName("jobStatus");
    bar_->setRange(0, 1000);
    bar_->setTextVisible(false);
    bar_->setFixedSize(180, 10);
    cancel_->setText(tr("Cancel"));
    cancel_->setAutoRaise(true);
    cancel_->setObjectName("cancelJob");
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(8, 0, 8, 0);
    row->addWidget(label_);
    row->addWidget(bar_);
    row->addWidget(cancel_);
    hide();
    connect(cancel_, &QToolButton::clicked, &job, &Job::cancel);
    connect(&job, &Job::started, this, [this](const QString& title) {
        title_ = title;
        label_->setText(title);
        bar_->setValue(0);
        show();
    });
    connect(&job, &Job::progressed, this, [this](double fraction, const QString& what) {
        label_->setText(what.isEmpty() ? title_ : title_ + ": " + what);
        bar_->setValue(static_cast<int>(fraction * 1000));
    });
    connect(&job, &Job::finished, this, &QWidget::hide);
}

} // namespace kerf::app
