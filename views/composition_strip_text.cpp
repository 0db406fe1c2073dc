// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/composition_strip_text.h"

#include "views/drawing.h"

#include <QStringList>
#include <algorithm>

namespace kerf::views {
namespace {

constexpr std::size_t kMostKernels = 8;

QString escaped(const std::string& text) {
    return QString::fromStdString(text).toHtmlEscaped();
}

QString percent(double share) {
    return QString::number(share * 100, 'f', share < 0.0995 ? 1 : 0) + QStringLiteral(" %");
}

/// Conventional time of ops along the whole path, and of all ops. µs.
struct PathTime {
    std::vector<double> ops;
    double total = 0;
};

PathTime pathTimeOf(const graph::Chain& chain) {
    const std::vector<std::int64_t> executions = executionsOf(chain);
    PathTime time;
    for (std::size_t i = 0; i < chain.ops.size(); ++i) {
        time.ops.push_back(chain.ops[i].conventional_us * static_cast<double>(executions[i]));
        time.total += time.ops.back();
    }
    return time;
}

QString kernelLines(const search::Case& theCase, const graph::ChainOp& op) {
    if (op.stage >= theCase.traced.stages.size()) {
        return {};
    }
    const std::vector<workload::Op>& recorded = theCase.traced.stages[op.stage].ops;
    QString lines;
    std::size_t shown = 0;
    for (const std::size_t member : op.members) {
        if (member >= recorded.size()) {
            continue;
        }
        if (++shown > kMostKernels) {
            lines += QStringLiteral("<br>… and %1 more").arg(op.members.size() - kMostKernels);
            break;
        }
        lines +=
            QStringLiteral("<br>%1").arg(escaped(workload::shortName(recorded[member].kernel)));
    }
    return lines;
}

} // namespace

QString opToolTip(const search::Case& theCase, std::size_t op) {
    const graph::Chain& chain = theCase.chain;
    const graph::ChainOp& chainOp = chain.ops[op];
    const PathTime time = pathTimeOf(chain);
    const auto executions = executionsOf(chain)[op];
    QString text = QStringLiteral("<b>%1</b>").arg(escaped(chainOp.label));
    if (chainOp.stage < theCase.traced.stages.size()) {
        text += QStringLiteral(" in %1").arg(escaped(theCase.traced.stages[chainOp.stage].name));
    }
    text += QStringLiteral("<br>conventional: %1 × %2 = %3")
                .arg(formatTime(chainOp.conventional_us))
                .arg(executions)
                .arg(formatTime(time.ops[op]));
    if (time.total > 0) {
        text += QStringLiteral(", %1 of the path").arg(percent(time.ops[op] / time.total));
    }
    text += QStringLiteral("<br>recorded as%1").arg(kernelLines(theCase, chainOp));
    const QString tier = QString::fromUtf8(graph::toString(chainOp.tier).data(),
                                           static_cast<int>(graph::toString(chainOp.tier).size()));
    text +=
        QStringLiteral("<br>in a megakernel: %1%2")
            .arg(chainOp.tier == graph::Tier::Benchmarked ? QString() : QStringLiteral("est., "),
                 tier.toHtmlEscaped());
    if (chainOp.relative_error > 0) {
        text += QStringLiteral(", ± %1").arg(percent(chainOp.relative_error));
    }
    if (!chainOp.source.empty()) {
        text += QStringLiteral("<br>%1").arg(escaped(chainOp.source));
    }
    return QStringLiteral("<qt>%1</qt>").arg(text);
}

QString siteToolTip(const graph::Chain& chain, graph::SiteIndex site) {
    const graph::Site& s = chain.sites[static_cast<std::size_t>(site)];
    return QStringLiteral("<qt><b>Cut</b> %1<br>passed %2 × along the path</qt>")
        .arg(escaped(s.label))
        .arg(s.passes);
}

QString regionToolTip(const search::Case& theCase, const StripLayout& layout,
                      const StripRegion& region) {
    const PathTime time = pathTimeOf(theCase.chain);
    double share = 0;
    for (std::size_t block = region.first_block; block <= region.last_block; ++block) {
        share += time.ops[layout.blocks[block].op];
    }
    QString text = QStringLiteral("<b>%1</b>, %2 ops")
                       .arg(titleOf(region))
                       .arg(region.last_block - region.first_block + 1);
    if (time.total > 0) {
        text += QStringLiteral("<br>%1 of the conventional path (%2)")
                    .arg(percent(share / time.total), formatTime(share));
    }
    if (region.round_loop || region.continues) {
        text += QStringLiteral("<br>starts at its handle, in each iteration, and goes on round the "
                               "loop up to the handle again");
    }
    return QStringLiteral("<qt>%1</qt>").arg(text);
}

QString loopToolTip(const StripLoop& loop, bool cut) {
    const QString what = loop.layer ? QStringLiteral("%1 layers, shown once").arg(loop.count)
                                    : QStringLiteral("%1 × %2").arg(loop.count).arg(loop.label);
    if (loop.back_site == graph::kPathStart) {
        return what;
    }
    return what + (cut ? QStringLiteral("\nCut each iteration: one launch each. Click to fuse.")
                       : QStringLiteral("\nFused: iterations follow one another without a cut "
                                        "between them. Click to cut each iteration."));
}

QString summaryOf(const graph::Chain& chain, const StripLayout& layout,
                  const std::vector<StripRegion>& regions) {
    QStringList parts;
    for (const StripRegion& region : regions) {
        const graph::ChainOp& first = chain.ops[layout.blocks[region.first_block].op];
        const graph::ChainOp& last = chain.ops[layout.blocks[region.last_block].op];
        const auto nameOf = [&](const graph::ChainOp& op) {
            for (const StripStage& stage : layout.stages) {
                if (stage.stage == op.stage) {
                    return stage.name + u' ' + QString::fromStdString(op.label);
                }
            }
            return QString::fromStdString(op.label);
        };
        parts +=
            region.first_block == region.last_block
                ? QStringLiteral("%1: %2").arg(titleOf(region), nameOf(first))
                : QStringLiteral("%1: %2 to %3").arg(titleOf(region), nameOf(first), nameOf(last));
    }
    return parts.join(QStringLiteral("; "));
}

} // namespace kerf::views
