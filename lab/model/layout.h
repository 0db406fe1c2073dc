// SPDX-License-Identifier: GPL-3.0-or-later
// How the megakernel wants its weights: rows in packed order, 16 × 32 blocks as a warp reads them.
#pragma once

#include "lab/model/model.h"

namespace kerf::lab {

/// The row of the matrix that lies at `packed` in the megakernel's order. Rows that an epilogue
/// needs together are neighbours: the two halves of a rotated pair, a gate and its up; q heads lie
/// with the k and v head that they use.
[[nodiscard]] int matrixRow(const Model& model, const ModelOp& op, int packed);

/// Where element (row `packed`, column) of a product lies in its packed weights, in values.
/// Stages are `rows_a_tile` × `columns_a_stage`; inside a stage each block of 16 rows × 32 columns
/// is 1 KB: for each half of 8 rows the 16 bytes of lane 4·(row mod 8) + (column mod 32)/8. Order:
/// row block (of rows_a_tile), then columns, stage by stage.
[[nodiscard]] std::size_t packedOffset(const ModelOp& op, int rows_a_tile, int columns_a_stage,
                                       int packed, int column);

} // namespace kerf::lab
