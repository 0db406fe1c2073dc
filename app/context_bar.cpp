// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/context_bar.h"

#include "views/theme.h"

#include <QAction>
#include <QButtonGroup>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <algorithm>
#include <cmath>

namespace kerf::app {

namespace {

QLabel* caption(const QString& text) {
    auto* label = new QLabel(text);
    label->setProperty("role", "caption");
    return label;
}

QToolButton* link(QAction* action) {
    auto* button = new QToolButton;
    button->setDefaultAction(action);
    button->setProperty("role", "link");
    button->setToolButtonStyle(Qt::ToolButtonTextOnly);
    button->setCursor(Qt::PointingHandCursor);
    return button;
}

bool hasEstimates(const search::Case& theCase) {
    const auto& ops = theCase.chain.ops;
    return std::any_of(ops.begin(), ops.end(),
                       [](const auto& op) { return op.tier == graph::Tier::Estimated; });
}

/// The dot is green where nothing limits trust; the text says so too.
QString withDot(const QString& text, bool good) {
    const auto& theme = views::currentTheme();
    return QString("<span style='color:%1'>●</span> %2")
        .arg((good ? theme.better : theme.muted).name(), text.toHtmlEscaped());
}

} // namespace

QString signedPercent(double fraction) {
    const double percent = fraction * 100;
    const QString size = QString::number(std::abs(percent), 'f', 1);
    return (percent < -0.05  ? QString("−")
            : percent < 0.05 ? QString("±")
                             : QString("+")) +
           size + " %";
}

QString hardwareChip(const search::Case& theCase) {
    const auto& ops = theCase.chain.ops;
    const bool estimated = std::any_of(
        ops.begin(), ops.end(), [](const auto& op) { return op.tier == graph::Tier::Estimated; });
    return QString::fromStdString(theCase.hardware.name) +
           (estimated ? ContextBar::tr(" · est.") : ContextBar::tr(" · calibrated"));
}

QString replayChip(const search::Case& theCase) {
    const auto& replay = theCase.replay;
    const QString residual = replay.hasMeasurement() ? signedPercent(replay.correctedError())
                                                     : ContextBar::tr("not measured");
    return ContextBar::tr("replay %1 · %2 dropped").arg(residual).arg(theCase.dropped);
}

ContextBar::ContextBar(Session& session, QAction* search, QAction* report, QWidget* parent)
    : QWidget(parent), session_(session), model_(new QComboBox), batches_(new QButtonGroup(this)),
      batch_row_(new QHBoxLayout), hardware_(new QLabel), replay_(new QLabel) {
    setObjectName("contextBar");
    model_->setObjectName("model");
    model_->setAccessibleName(tr("Model"));
    model_->setMinimumWidth(150);
    model_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    auto* objective = new QComboBox;
    objective->setObjectName("objective");
    objective->setAccessibleName(tr("Objective"));
    objective->addItem(tr("TTFA"));
    objective->setToolTip(
        tr("The search minimises the time to first output of the whole batch. "
           "The candidates table also sorts by throughput and real-time factor."));
    batch_row_->setSpacing(0);
    hardware_->setProperty("role", "chip");
    replay_->setProperty("role", "chip");
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(16, 4, 16, 4);
    row->setSpacing(8);
    row->addWidget(caption(tr("Model")));
    row->addWidget(model_);
    row->addSpacing(10);
    row->addWidget(caption(tr("Batch")));
    row->addLayout(batch_row_);
    row->addSpacing(10);
    row->addWidget(caption(tr("Objective")));
    row->addWidget(objective);
    row->addSpacing(10);
    row->addWidget(hardware_);
    row->addWidget(replay_);
    row->addStretch(1);
    row->addWidget(link(search));
    row->addSpacing(8);
    row->addWidget(link(report));

    connect(model_, &QComboBox::textActivated, this, [this](const QString& model) {
        const CaseState* state = session_.current();
        const int batch = state ? state->data->traced.batch : 0;
        session_.setCurrent(model, batch);
        const CaseState* now = session_.current();
        if (now && QString::fromStdString(now->data->traced.model) != model) {
            for (const auto& other : session_.cases()) { // not recorded at this batch: its first
                if (QString::fromStdString(other.data->traced.model) == model) {
                    session_.setCurrent(model, other.data->traced.batch);
                    break;
                }
            }
        }
    });
    connect(batches_, &QButtonGroup::idClicked, this,
            [this](int batch) { session_.setCurrent(model_->currentText(), batch); });
    connect(&session_, &Session::projectChanged, this, &ContextBar::rebuild);
    connect(&session_, &Session::currentChanged, this, &ContextBar::showCurrent);
    rebuild();
    restyle();
}

void ContextBar::rebuild() {
    model_->clear();
    for (const auto& state : session_.cases()) {
        const QString model = QString::fromStdString(state.data->traced.model);
        if (model_->findText(model) < 0) {
            model_->addItem(model);
        }
    }
    showCurrent();
}

void ContextBar::showCurrent() {
    const CaseState* state = session_.current();
    model_->setEnabled(state != nullptr);
    hardware_->setVisible(state != nullptr);
    replay_->setVisible(state != nullptr);
    if (state) {
        model_->setCurrentText(QString::fromStdString(state->data->traced.model));
        showChips();
        QString health = tr("Predicted conventional run against the untraced measurement.");
        for (const auto& line : state->data->health) {
            health += "\n" + QString::fromStdString(line);
        }
        replay_->setToolTip(health);
        hardware_->setToolTip(tr("est.: costs inside megakernels are estimated from the recording, "
                                 "not benchmarked. Hover a block of the strip for its source."));
    }
    fillBatches();
}

void ContextBar::showChips() {
    if (const CaseState* state = session_.current()) {
        const search::Case& shown = *state->data;
        hardware_->setText(withDot(hardwareChip(shown), !hasEstimates(shown)));
        replay_->setText(
            withDot(replayChip(shown), shown.replay.hasMeasurement() && shown.dropped == 0));
    }
}

void ContextBar::fillBatches() {
    for (auto* button : batches_->buttons()) {
        batches_->removeButton(button);
        batch_row_->removeWidget(button);
        button->deleteLater();
    }
    const CaseState* current = session_.current();
    if (!current) {
        return;
    }
    for (const auto& state : session_.cases()) {
        if (state.data->traced.model != current->data->traced.model) {
            continue;
        }
        auto* button = new QToolButton;
        button->setText(QString::number(state.data->traced.batch));
        button->setAccessibleName(tr("Batch %1").arg(state.data->traced.batch));
        button->setCheckable(true);
        button->setChecked(state.data == current->data);
        button->setProperty("role", "segment");
        button->setObjectName(QString("batch%1").arg(state.data->traced.batch));
        batches_->addButton(button, state.data->traced.batch);
        batch_row_->addWidget(button);
    }
}

void ContextBar::restyle() {
    const auto& t = views::currentTheme();
    const QString onAccent = t.isDark ? t.ground.name() : t.panel.name();
    const QString sheet =
        QString(
            "*[role=caption] { color: %1; }"
            "*[role=chip] { color: %2; border: 1px solid %3; border-radius: 11px; padding: 2px "
            "10px; "
            "background: %4; }"
            "*[role=link] { color: %5; border: none; font-weight: 600; padding: 3px; }"
            "*[role=link]:hover { text-decoration: underline; }"
            "*[role=link]:disabled { color: %1; }"
            "*[role=segment] { color: %2; background: %4; border: 1px solid %3; min-width: 26px; "
            "padding: 3px 4px; margin-right: -1px; }"
            "*[role=segment]:checked { background: %5; color: %6; font-weight: 600; }"
            "*[role=segment]:focus { border: 1px solid %5; }")
            .arg(t.muted.name(), t.ink.name(), t.line.name(), t.panel.name(), t.accent.name(),
                 onAccent);
    if (sheet != styleSheet()) { // setting it changes palettes, which would come back here
        setStyleSheet(sheet);
    }
}

void ContextBar::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        restyle();
        showChips();
    }
}

} // namespace kerf::app
