// SPDX-License-Identifier: GPL-3.0-or-later
// First page: the number, what to do, the strip and the candidates.
#include "views/composition_strip_painter.h"
#include "views/drawing.h"
#include "views/report/sections.h"
#include "views/theme.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

namespace kerf::views {
namespace {

constexpr std::size_t kMostCandidates = 9; ///< what fits below the strip
constexpr std::size_t kMostCutsNamed = 6;

QString text(const std::string& s) {
    return QString::fromStdString(s);
}

/// The instruction in one or two sentences.
QString whatToDo(const ReportEntry& entry) {
    const auto& best = entry.result.candidates.front();
    const auto& prediction = best.prediction;
    switch (prediction.kind) {
    case graph::Kind::Conventional:
        return QStringLiteral("Leave it conventional: no composition with a megakernel is "
                              "predicted to be faster.");
    case graph::Kind::Monolith:
        return QStringLiteral("Write one megakernel for the whole path, without a cut.");
    case graph::Kind::Pure:
    case graph::Kind::Mixed:
        break;
    }
    QStringList cuts;
    for (const auto& [site, mode] : prediction.composition.cuts) {
        if (site >= 0 && static_cast<std::size_t>(site) < entry.the_case->chain.sites.size()) {
            cuts << text(entry.the_case->chain.sites[static_cast<std::size_t>(site)].label);
        }
    }
    const auto count = cuts.size();
    if (static_cast<std::size_t>(count) > kMostCutsNamed) {
        cuts = cuts.mid(0, kMostCutsNamed);
        cuts << QStringLiteral("%1 more").arg(count - static_cast<qsizetype>(kMostCutsNamed));
    }
    const auto megakernels = std::ranges::count_if(prediction.regions, [](const auto& region) {
        return region.use.mode == graph::Mode::Megakernel;
    });
    return QStringLiteral("Write %1 %2. Cut: %3.")
        .arg(megakernels)
        .arg(megakernels == 1 ? QStringLiteral("megakernel") : QStringLiteral("megakernels"),
             cuts.join(QStringLiteral("; ")));
}

/// A simpler candidate that cannot be told from the best is worth more than the best.
QString simplerTie(const ReportEntry& entry) {
    for (const auto kind : {graph::Kind::Conventional, graph::Kind::Monolith}) {
        const auto* simple = candidateOf(entry.result, kind);
        if (simple != nullptr && simple != &entry.result.candidates.front() && simple->ties_best) {
            return kind == graph::Kind::Monolith
                       ? QStringLiteral(" But the monolith ties with it and has no cut.")
                       : QStringLiteral(" But fully conventional ties with it.");
        }
    }
    return {};
}

QString comparisonText(const ReportEntry& entry, const search::Candidate& other,
                       const QString& name) {
    const search::Comparison result = bestAgainst(entry, other);
    const double other_us = std::max(other.prediction.ttfa_us, 1e-9);
    QString line = QStringLiteral("%1 against %2 (%3)")
                       .arg(formatSignedPercent(result.difference_us / other_us), name,
                            formatTime(other.prediction.ttfa_us));
    line += QStringLiteral(", 90 % interval %1 to %2, P(faster) %3")
                .arg(formatSignedPercent(result.interval_us.low / other_us),
                     formatSignedPercent(result.interval_us.high / other_us),
                     probabilityText(result.p_a_beats_b));
    return result.tie ? line + QStringLiteral(": a tie") : line;
}

void drawHeadline(Pages& pages, const ReportData& data) {
    const ReportEntry& entry = chosenEntry(data);
    const auto& theCase = *entry.the_case;
    const auto& prediction = entry.result.candidates.front().prediction;
    const Theme& theme = pages.theme();
    QPainter& p = pages.painter();
    QString question = text(data.question);
    if (question.isEmpty()) {
        question = QStringLiteral("Where should %1 be cut at batch %2?")
                       .arg(text(entry.result.model))
                       .arg(entry.result.batch);
    }
    p.setFont(reportFont(20, QFont::DemiBold));
    p.setPen(theme.ink);
    drawElided(p, pages.take(34), Qt::AlignLeft | Qt::AlignTop, question);

    QStringList lines;
    for (const auto& [kind, name] :
         {std::pair{graph::Kind::Conventional, QStringLiteral("fully conventional")},
          std::pair{graph::Kind::Monolith, QStringLiteral("the monolith")}}) {
        const auto* other = candidateOf(entry.result, kind);
        if (other != nullptr && other != &entry.result.candidates.front()) {
            lines << comparisonText(entry, *other, name);
        }
    }
    const double side = 300;
    const double textWidth = pages.width() - side - 24;
    const QString instruction = whatToDo(entry) + simplerTie(entry);
    const QFont strong = reportFont(15, QFont::DemiBold);
    const double instructionHeight = pages.textHeight(instruction, strong, textWidth);
    const double linesHeight = static_cast<double>(lines.size()) * 20;
    const QRectF block = pages.take(std::max(104.0, instructionHeight + linesHeight + 20));

    const QString number = formatTime(prediction.ttfa_us);
    p.setFont(reportNumberFont(44, true));
    p.setPen(theme.ink);
    p.drawText(QRectF(block.left(), block.top() - 4, side, 56), Qt::AlignLeft | Qt::AlignVCenter,
               number);
    p.setFont(reportFont(12));
    p.setPen(theme.muted);
    p.drawText(QRectF(block.left(), block.top() + 54, side, 18), Qt::AlignLeft | Qt::AlignVCenter,
               QStringLiteral("predicted time to %1, batch %2")
                   .arg(outputName(theCase))
                   .arg(entry.result.batch));
    p.drawText(QRectF(block.left(), block.top() + 72, side, 18), Qt::AlignLeft | Qt::AlignVCenter,
               QStringLiteral("90 % interval %1").arg(intervalText(prediction.ttfa_interval_us)));

    const double x = block.left() + side + 24;
    p.setFont(strong);
    p.setPen(theme.ink);
    p.drawText(QRectF(x, block.top() + 2, textWidth, instructionHeight + 2), Qt::TextWordWrap,
               instruction);
    p.setFont(reportFont(12));
    double y = block.top() + instructionHeight + 10;
    for (const QString& line : lines) {
        p.setPen(line.endsWith(QLatin1String("a tie"))  ? theme.muted
                 : line.startsWith(QStringLiteral("−")) ? theme.better
                                                        : theme.worse);
        drawElided(p, {x, y, textWidth, 18}, Qt::AlignLeft | Qt::AlignVCenter, line);
        y += 20;
    }
}

void drawStrip(Pages& pages, const ReportEntry& entry) {
    const auto& theCase = *entry.the_case;
    std::vector<std::string> names;
    for (const auto& stage : theCase.traced.stages) {
        names.push_back(stage.name);
    }
    const StripLayout layout = layOut(theCase.chain, names, 0, pages.width());
    StripState state;
    state.composition = entry.result.candidates.front().prediction.composition;
    const double height = stripHeight(layout.loop_rows);
    pages.heading(QStringLiteral("Composition"));
    const QRectF rect = pages.take(height);
    const StripRows rows = rowsOf(layout, QSizeF(rect.width(), rect.height()));
    const auto regions = regionsOnStrip(theCase.chain, layout, state.composition);
    QPainter& p = pages.painter();
    p.save();
    p.translate(rect.topLeft());
    paintStrip(p, fixedPrimitives(theCase.chain, layout, rows, pages.theme()), pages.theme());
    paintStrip(p, movingPrimitives(layout, regions, rows, state, pages.theme()), pages.theme());
    p.restore();
}

void drawOpLegend(Pages& pages) {
    const QRectF rect = pages.take(20);
    QPainter& p = pages.painter();
    p.setFont(reportFont(11));
    const QFontMetricsF metrics(p.font(), p.device());
    double x = rect.left();
    for (std::size_t k = 0; k < kOpClasses; ++k) {
        const auto opClass = static_cast<workload::OpClass>(k);
        const QString name = text(std::string(toString(opClass)));
        p.fillRect(QRectF(x, rect.top() + 5, 10, 10), pages.theme().op(opClass));
        p.setPen(pages.theme().muted);
        const double width = metrics.horizontalAdvance(name) + 4;
        p.drawText(QRectF(x + 15, rect.top(), width, 20), Qt::AlignLeft | Qt::AlignVCenter, name);
        x += width + 34;
    }
}

/// The best, and in any case the monolith and the conventional path: what everyone asks about.
std::vector<std::size_t> shownCandidates(const std::vector<search::Candidate>& candidates) {
    std::vector<std::size_t> shown;
    for (std::size_t i = candidates.size(); i-- > 0;) {
        const auto kind = candidates[i].prediction.kind;
        if (kind == graph::Kind::Monolith || kind == graph::Kind::Conventional) {
            shown.push_back(i);
        } else if (i < kMostCandidates - 2) {
            shown.push_back(i);
        }
    }
    std::sort(shown.begin(), shown.end());
    return shown;
}

void drawCandidates(Pages& pages, const ReportEntry& entry) {
    pages.heading(QStringLiteral("Candidates"));
    std::vector<TableRow> rows;
    bool audio = false;
    for (const auto& candidate : entry.result.candidates) {
        audio = audio || candidate.prediction.rtf > 0;
    }
    const double best_us = std::max(entry.result.candidates.front().prediction.ttfa_us, 1e-9);
    const auto shown = shownCandidates(entry.result.candidates);
    for (const std::size_t i : shown) {
        const auto& candidate = entry.result.candidates[i];
        const auto& p = candidate.prediction;
        QStringList cells{
            QString::fromStdString(candidate.regions),
            text(std::string(toString(p.kind))),
            formatTime(p.ttfa_us),
            intervalText(p.ttfa_interval_us),
            i == 0 ? QStringLiteral("best")
                   : formatSignedPercent(p.ttfa_us / best_us - 1) +
                         (candidate.ties_best ? QStringLiteral(" tie") : QString()),
            probabilityText(candidate.uncertain.p_best),
            QString::number(p.throughput_per_s, 'f', p.throughput_per_s < 100 ? 1 : 0),
            QStringLiteral("%1 %").arg(p.coverage * 100, 0, 'f', 0),
            QString::number(p.launches)};
        if (audio) {
            cells.insert(7, QString::number(p.rtf, 'f', 3));
        }
        rows.push_back({cells, i == 0});
    }
    std::vector<TableColumn> columns{
        {QStringLiteral("regions"), 2.6},         {QStringLiteral("kind"), 1.1},
        {QStringLiteral("time"), 0.9, true},      {QStringLiteral("90 % interval"), 1.5, true},
        {QStringLiteral("to best"), 1.1, true},   {QStringLiteral("P(best)"), 0.8, true},
        {QStringLiteral("outputs/s"), 0.9, true}, {QStringLiteral("coverage"), 0.8, true},
        {QStringLiteral("launches"), 0.8, true}};
    if (audio) {
        columns.insert(columns.begin() + 7, {QStringLiteral("RTF"), 0.7, true});
    }
    pages.table(columns, rows);
    QString note = QStringLiteral("M: a megakernel, c: conventional, in the order of the path. "
                                  "%1 regions evaluated in %2 s; the search is exact.")
                       .arg(entry.result.regions_evaluated)
                       .arg(entry.result.seconds, 0, 'f', 1);
    if (entry.result.candidates.size() > shown.size()) {
        note += QStringLiteral(" %1 more candidates are in the attached result.")
                    .arg(entry.result.candidates.size() - shown.size());
    }
    if (entry.result.conventional_programmatic_us > 0) {
        note += QStringLiteral(" Conventional with programmatic launches: est. %1.")
                    .arg(formatTime(entry.result.conventional_programmatic_us));
    }
    pages.paragraph(note, 11, true);
}

} // namespace

void drawAnswer(Pages& pages, const ReportData& data) {
    pages.startPage(QStringLiteral("Answer"));
    drawHeadline(pages, data);
    drawStrip(pages, chosenEntry(data));
    drawOpLegend(pages);
    drawCandidates(pages, chosenEntry(data));
}

} // namespace kerf::views
