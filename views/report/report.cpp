// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/report/report.h"

#include "core/base/atomic_file.h"
#include "views/drawing.h"
#include "views/render.h"
#include "views/report/sections.h"

#include <QBuffer>
#include <QPageLayout>
#include <QPdfWriter>

#include <cmath>

namespace kerf::views {
namespace {

constexpr int kResolution = 1200; ///< dots an inch
constexpr double kUnitsPerInch = 96;
constexpr double kTieFraction = 0.01;
constexpr int kReplicas = 2000;

/// Lays everything out; returns the number of pages.
int draw(const ReportData& data, int pageCount, QByteArray& pdf) {
    QBuffer buffer(&pdf);
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter writer(&buffer);
    writer.setTitle(QStringLiteral("Kerf report: %1").arg(QString::fromStdString(data.project)));
    writer.setCreator(QStringLiteral("Kerf %1").arg(QString::fromStdString(data.version)));
    writer.setResolution(kResolution);
    writer.setPageLayout(QPageLayout(QPageSize(QPageSize::A4), QPageLayout::Landscape, QMarginsF(),
                                     QPageLayout::Millimeter));
    if (!data.result_json.empty()) {
        writer.addFileAttachment(QStringLiteral("result.json"),
                                 QByteArray::fromStdString(data.result_json),
                                 QStringLiteral("application/json"));
    }
    QPainter painter(&writer);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.scale(kResolution / kUnitsPerInch, kResolution / kUnitsPerInch);
    const auto& theCase = *chosenEntry(data).the_case;
    PageFrame frame{QStringLiteral("Kerf report · %1").arg(QString::fromStdString(data.project)),
                    QStringLiteral("Kerf %1 · %2 · %3 · no candidate was run: all times but the "
                                   "recorded ones are predicted")
                        .arg(QString::fromStdString(data.version),
                             QString::fromStdString(data.date),
                             QString::fromStdString(theCase.hardware.name)),
                    pageCount};
    Pages pages(painter, frame, [&] { writer.newPage(); });
    drawAnswer(pages, data);
    drawEvidence(pages, data);
    drawCategories(pages, data);
    drawAssumptions(pages, data);
    painter.end();
    return pages.count();
}

} // namespace

const ReportEntry& chosenEntry(const ReportData& data) {
    return data.entries[data.chosen];
}

const search::Candidate* candidateOf(const search::SearchResult& result, graph::Kind kind) {
    for (const auto& candidate : result.candidates) {
        if (candidate.prediction.kind == kind) {
            return &candidate;
        }
    }
    return nullptr;
}

QString outputName(const search::Case& theCase) {
    return theCase.audio_ms_per_path > 0 ? QStringLiteral("first audio")
                                         : QStringLiteral("first output");
}

QString intervalText(const search::Interval& interval) {
    if (interval.high <= 0) {
        return QStringLiteral("–");
    }
    const QString low = formatTime(interval.low);
    const QString high = formatTime(interval.high);
    const auto unit = high.lastIndexOf(QLatin1Char(' '));
    // The unit once, where both have the same.
    return low.endsWith(high.mid(unit))
               ? low.left(low.lastIndexOf(QLatin1Char(' '))) + QStringLiteral("–") + high
               : low + QStringLiteral(" – ") + high;
}

QString probabilityText(double probability) {
    if (probability > 0.995) {
        return QStringLiteral("> 0.99");
    }
    if (probability < 0.005) {
        return QStringLiteral("< 0.01");
    }
    return QString::number(probability, 'f', 2);
}

search::Comparison bestAgainst(const ReportEntry& entry, const search::Candidate& other) {
    return search::compare(entry.result.candidates.front().prediction.parts, other.prediction.parts,
                           entry.the_case->errors, kTieFraction, kReplicas, search::kReplicaSeed);
}

Expected<void> writeReport(const ReportData& data, const std::filesystem::path& pdf) {
    if (const auto fonts = requireFonts(); !fonts) {
        return tl::unexpected(fonts.error());
    }
    if (data.chosen >= data.entries.size() || !chosenEntry(data).the_case ||
        chosenEntry(data).result.candidates.empty()) {
        return fail("there is no result to report", pdf.string(),
                    "Search the best composition of a recording first.");
    }
    QByteArray content;
    const int pageCount = draw(data, 0, content); // only to number the pages
    content.clear();
    draw(data, pageCount, content);
    return writeFileAtomically(pdf,
                               {content.constData(), static_cast<std::size_t>(content.size())});
}

} // namespace kerf::views
