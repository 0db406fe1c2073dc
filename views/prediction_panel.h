// SPDX-License-Identifier: GPL-3.0-or-later
// The one big number: predicted time to first output, with its interval and what it is held
// against.
#pragma once

#include "core/search/predictor.h"
#include "views/prediction_panel_model.h"

#include <QWidget>
#include <optional>
#include <vector>

namespace kerf::views {

class PredictionPanel : public QWidget {
    Q_OBJECT
public:
    explicit PredictionPanel(QWidget* parent = nullptr);
    void setState(const PredictionPanelState& state);
    [[nodiscard]] const PredictionPanelState& state() const { return state_; }

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    PredictionPanelState state_;
    PredictionTexts texts_;
};

} // namespace kerf::views
