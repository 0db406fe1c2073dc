// SPDX-License-Identifier: GPL-3.0-or-later
// Views as pictures, and files that are written whole or not at all.
#pragma once

#include "core/base/error.h"

#include <QImage>
#include <QSize>

#include <filesystem>

class QWidget;

namespace kerf::views {

/// The widget as it would look at `size` (logical pixels), drawn at `dpr` pixels a logical pixel.
/// Resizes it for the moment where it differs; need not be shown.
[[nodiscard]] QImage renderToImage(QWidget& widget, QSize size, double dpr);

/// Written whole or not at all. Errors: an empty picture; the file cannot be written (names it and
/// why).
[[nodiscard]] Expected<void> writePng(const QImage& image, const std::filesystem::path& file);

/// Text needs a font. Errors: the platform has none (says what to install).
[[nodiscard]] Expected<void> requireFonts();

} // namespace kerf::views
