// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/category_map_model.h"

#include <algorithm>
#include <set>

namespace kerf::views {

std::vector<int> batchesOf(const std::vector<CategoryRow>& rows) {
    std::set<int> batches;
    for (const CategoryRow& row : rows) {
        for (const CategoryCell& cell : row.cells) {
            batches.insert(cell.batch);
        }
    }
    return {batches.begin(), batches.end()};
}

const CategoryCell* cellOf(const CategoryRow& row, int batch) {
    const auto found = std::find_if(row.cells.begin(), row.cells.end(),
                                    [&](const CategoryCell& cell) { return cell.batch == batch; });
    return found == row.cells.end() ? nullptr : &*found;
}

std::vector<std::pair<double, double>> megakernelStretches(const CategoryCell& cell) {
    double total = 0;
    for (const auto& [share, megakernel] : cell.strip) {
        total += share;
    }
    std::vector<std::pair<double, double>> stretches;
    double at = 0;
    for (const auto& [share, megakernel] : cell.strip) {
        const double end = total > 0 ? at + share / total : at;
        if (megakernel) {
            stretches.emplace_back(at, end);
        }
        at = end;
    }
    return stretches;
}

} // namespace kerf::views
