// SPDX-License-Identifier: GPL-3.0-or-later
// The row under the menu: which case is on screen, how far its numbers can be trusted, what to do.
#pragma once

#include "app/session.h"

#include <QWidget>

class QAction;
class QButtonGroup;
class QComboBox;
class QHBoxLayout;
class QLabel;
class QToolButton;

namespace kerf::app {

class ContextBar : public QWidget {
    Q_OBJECT
public:
    /// `search` and `report` are shown as links at the right.
    ContextBar(Session& session, QAction* search, QAction* report, QWidget* parent = nullptr);

protected:
    void changeEvent(QEvent* event) override;

private:
    void rebuild();     ///< other recordings
    void showCurrent(); ///< other case
    void showChips();
    void fillBatches();
    void restyle();

    Session& session_;
    QComboBox* model_ = nullptr;
    QButtonGroup* batches_ = nullptr;
    QHBoxLayout* batch_row_ = nullptr;
    QLabel* hardware_ = nullptr;
    QLabel* replay_ = nullptr;
};

/// "NVIDIA H200 · est.": est. while any op's cost is estimated from the recording.
[[nodiscard]] QString hardwareChip(const search::Case& theCase);
/// "replay −0.6 % · 0 dropped".
[[nodiscard]] QString replayChip(const search::Case& theCase);
/// Signed, with a true minus, one decimal: "−0.6 %".
[[nodiscard]] QString signedPercent(double fraction);

} // namespace kerf::app
