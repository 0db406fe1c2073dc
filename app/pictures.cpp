// SPDX-License-Identifier: GPL-3.0-or-later
// Every view of one case as a picture, without a window.
#include "app/panel_dock.h"
#include "app/report_data.h"
#include "app/shown.h"
#include "views/candidates_view.h"
#include "views/category_map.h"
#include "views/composition_strip.h"
#include "views/prediction_panel.h"
#include "views/qcustomplot.h"
#include "views/render.h"
#include "views/timeline_view.h"

#include <QCoreApplication>

namespace kerf::app {

namespace {

constexpr double kPixelRatio = 2;

struct Picture {
    QString name;
    QString title;
    QString hint;
    QWidget* view = nullptr; ///< the dock takes it
    QSize size;
};

} // namespace

QImage sharpImage(QWidget& widget, QSize size) {
    if (!widget.isVisible()) { // lays out what is inside, as if it were on screen
        widget.setAttribute(Qt::WA_DontShowOnScreen);
        widget.resize(size);
        widget.show();
        QCoreApplication::processEvents();
    }
    // A chart paints from a buffer of its own, made for the screen.
    std::vector<std::pair<QCustomPlot*, double>> ratios;
    for (auto* plot : widget.findChildren<QCustomPlot*>()) {
        ratios.emplace_back(plot, plot->bufferDevicePixelRatio());
        plot->setBufferDevicePixelRatio(kPixelRatio);
        plot->replot();
    }
    QImage image = views::renderToImage(widget, size, kPixelRatio);
    for (const auto& [plot, ratio] : ratios) {
        plot->setBufferDevicePixelRatio(ratio);
        plot->replot();
    }
    return image;
}

Expected<std::vector<std::filesystem::path>> writePictures(const std::vector<CaseState>& cases,
                                                           std::size_t chosen,
                                                           const views::TimelinePredicted& timeline,
                                                           const std::filesystem::path& folder) {
    const CaseState& state = cases[chosen];
    const auto& best = state.result->candidates.front().prediction;
    auto* strip = new views::CompositionStrip;
    strip->setCase(state.data);
    strip->setComposition(best.composition);
    auto* prediction = new views::PredictionPanel;
    prediction->setState(predictionState({&state, best, {}, false}));
    auto* lanes = new views::TimelineView;
    lanes->setRecorded(state.data);
    lanes->setPredicted(timeline);
    auto* candidates = new views::CandidatesView;
    candidates->setResult(*state.result);
    candidates->setCurrent(best.composition);
    auto* categories = new views::CategoryMap;
    categories->setRows(categoryRows(cases));
    categories->setCurrent(QString::fromStdString(state.data->traced.model),
                           state.data->traced.batch);
    const Picture pictures[] = {
        {"composition", Session::tr("Composition"), Session::tr("best found"), strip, {1180, 220}},
        {"prediction", Session::tr("Predicted"), Session::tr("best found"), prediction, {400, 220}},
        {"timeline",
         Session::tr("Timeline"),
         Session::tr("recorded above · predicted below · same axis"),
         lanes,
         {1180, 420}},
        {"candidates", Session::tr("Candidates"), candidatesHint(&state), candidates, {600, 520}},
        {"categories", Session::tr("Category map"), Session::tr("batch →"), categories, {560, 420}},
    };
    std::vector<std::filesystem::path> files;
    for (const auto& picture : pictures) {
        PanelDock dock(picture.name, picture.title, picture.hint, picture.view);
        const auto file = folder / (picture.name.toStdString() + ".png");
        const QImage image = sharpImage(dock, picture.size);
        if (auto written = views::writePng(image, file); !written) {
            return tl::unexpected(written.error());
        }
        files.push_back(file);
    }
    return files;
}

} // namespace kerf::app
