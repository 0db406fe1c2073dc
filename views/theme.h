// SPDX-License-Identifier: GPL-3.0-or-later
// Colours and fonts of all views, light and dark. See docs/user-guide.
#pragma once

#include "core/workload/op.h"

#include <QColor>
#include <QFont>

class QApplication;

namespace kerf::views {

/// Saturated colour belongs to ops; one accent for what is selected or draggable; better and worse
/// always come with sign and text. Text colours have a contrast of at least 4.5:1 on their ground.
struct Theme {
    QColor ground; ///< of the window
    QColor panel;  ///< of a panel on it
    QColor ink;    ///< text and handles
    QColor muted;  ///< secondary text
    QColor line;   ///< 1 px lines
    QColor soft;   ///< fill of megakernel regions, selected rows
    QColor accent; ///< selected, draggable, links
    QColor better;
    QColor worse;
    bool isDark = false;

    [[nodiscard]] static const Theme& light();
    [[nodiscard]] static const Theme& dark();
    /// Okabe–Ito, the same in light and dark.
    [[nodiscard]] QColor op(workload::OpClass opClass) const;
};

enum class ThemeChoice : std::uint8_t { System, Light, Dark };

/// The theme in use. Views read it again on QEvent::PaletteChange.
[[nodiscard]] const Theme& currentTheme();
/// Sets style (Fusion), palette and the 13 px interface font. System follows the platform's
/// palette.
void applyTheme(QApplication& application, ThemeChoice choice);

/// The interface font at `px` pixels.
[[nodiscard]] QFont textFont(int px, QFont::Weight weight = QFont::Normal);
/// The same with figures of equal width (the interface font itself where its figures are).
[[nodiscard]] QFont numberFont(int px, bool bold = false);
/// Fixed pitch, for region strings such as "c M M".
[[nodiscard]] QFont fixedFont(int px);

} // namespace kerf::views
