// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/theme.h"

#include <QApplication>
#include <QFontDatabase>
#include <QFontMetricsF>
#include <QPalette>
#include <QStyle>
#include <QStyleFactory>

#include <cmath>

namespace kerf::views {
namespace {

const Theme* g_current = nullptr;

QPalette paletteOf(const Theme& theme) {
    QPalette palette;
    palette.setColor(QPalette::Window, theme.ground);
    palette.setColor(QPalette::WindowText, theme.ink);
    palette.setColor(QPalette::Base, theme.panel);
    palette.setColor(QPalette::AlternateBase, theme.soft);
    palette.setColor(QPalette::Text, theme.ink);
    palette.setColor(QPalette::PlaceholderText, theme.muted);
    palette.setColor(QPalette::Button, theme.panel);
    palette.setColor(QPalette::ButtonText, theme.ink);
    palette.setColor(QPalette::BrightText, theme.worse);
    palette.setColor(QPalette::ToolTipBase, theme.panel);
    palette.setColor(QPalette::ToolTipText, theme.ink);
    palette.setColor(QPalette::Highlight, theme.accent);
    palette.setColor(QPalette::HighlightedText, theme.isDark ? theme.ground : theme.panel);
    palette.setColor(QPalette::Link, theme.accent);
    palette.setColor(QPalette::LinkVisited, theme.accent);
    palette.setColor(QPalette::Light, theme.isDark ? theme.line.lighter(120) : theme.panel);
    palette.setColor(QPalette::Midlight, theme.soft);
    palette.setColor(QPalette::Mid, theme.line);
    palette.setColor(QPalette::Dark, theme.isDark ? theme.ground.darker(130) : theme.muted);
    palette.setColor(QPalette::Shadow, theme.isDark ? QColor(Qt::black) : theme.muted);
    for (const QPalette::ColorRole role :
         {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
        palette.setColor(QPalette::Disabled, role, theme.muted);
    }
    return palette;
}

bool systemIsDark(const QStyle& style) {
    const QPalette palette = style.standardPalette();
    return palette.color(QPalette::WindowText).lightness() >
           palette.color(QPalette::Window).lightness();
}

bool figuresAreOfEqualWidth(const QFont& font) {
    const QFontMetricsF metrics(font);
    const qreal zero = metrics.horizontalAdvance(u'0');
    for (char16_t figure = u'1'; figure <= u'9'; ++figure) {
        if (std::abs(metrics.horizontalAdvance(QChar(figure)) - zero) > 0.01) {
            return false;
        }
    }
    return true;
}

} // namespace

const Theme& Theme::light() {
    static const Theme theme{.ground = QColor(0xF7, 0xF7, 0xF5),
                             .panel = QColor(0xFF, 0xFF, 0xFF),
                             .ink = QColor(0x1B, 0x1F, 0x24),
                             .muted = QColor(0x6B, 0x72, 0x80),
                             .line = QColor(0xD9, 0xDC, 0xE1),
                             .soft = QColor(0xEE, 0xF0, 0xF3),
                             .accent = QColor(0x0B, 0x62, 0xA4),
                             .better = QColor(0x0A, 0x7D, 0x55),
                             .worse = QColor(0xB4, 0x41, 0x2B),
                             .isDark = false};
    return theme;
}

const Theme& Theme::dark() {
    static const Theme theme{.ground = QColor(0x15, 0x18, 0x1D),
                             .panel = QColor(0x1D, 0x21, 0x27),
                             .ink = QColor(0xE8, 0xEA, 0xED),
                             .muted = QColor(0x9A, 0xA3, 0xAE),
                             .line = QColor(0x34, 0x3A, 0x43),
                             .soft = QColor(0x26, 0x2B, 0x33),
                             .accent = QColor(0x5A, 0xB0, 0xF2),
                             .better = QColor(0x45, 0xC8, 0x9A),
                             .worse = QColor(0xF0, 0x8B, 0x70),
                             .isDark = true};
    return theme;
}

QColor Theme::op(workload::OpClass opClass) const {
    switch (opClass) {
    case workload::OpClass::Product:
        return {0x00, 0x72, 0xB2};
    case workload::OpClass::Attention:
        return {0xD5, 0x5E, 0x00};
    case workload::OpClass::Elementwise:
        return {0x00, 0x9E, 0x73};
    case workload::OpClass::Convolution:
        return {0xCC, 0x79, 0xA7};
    case workload::OpClass::Embedding:
        return {0xE6, 0x9F, 0x00};
    case workload::OpClass::Copy:
        break;
    }
    return {0x8A, 0x8F, 0x98};
}

const Theme& currentTheme() {
    return g_current != nullptr ? *g_current : Theme::light();
}

void applyTheme(QApplication& application, ThemeChoice choice) {
    QStyle* fusion = QStyleFactory::create(QStringLiteral("Fusion"));
    const bool dark = choice == ThemeChoice::Dark ||
                      (choice == ThemeChoice::System && systemIsDark(*application.style()));
    g_current = dark ? &Theme::dark() : &Theme::light();
    application.setStyle(fusion);
    QFont font = application.font();
    font.setPixelSize(13);
    application.setFont(font);
    application.setPalette(paletteOf(*g_current));
}

QFont textFont(int px, QFont::Weight weight) {
    QFont font = QApplication::font();
    font.setPixelSize(px);
    font.setWeight(weight);
    // Any spacing at all switches ligatures off: "first" must be found in a report, not "ﬁrst".
    font.setLetterSpacing(QFont::AbsoluteSpacing, 1.0 / 64);
    return font;
}

QFont numberFont(int px, bool bold) {
    QFont font = textFont(px, bold ? QFont::Bold : QFont::Normal);
    // Qt 6.4 cannot switch on the "tnum" feature of a font, so take a family that needs none.
    if (!figuresAreOfEqualWidth(font)) {
        for (const char* family : {"DejaVu Sans", "Noto Sans", "Liberation Sans"}) {
            QFont other = font;
            other.setFamily(QString::fromLatin1(family));
            if (figuresAreOfEqualWidth(other)) {
                return other;
            }
        }
    }
    return font;
}

QFont fixedFont(int px) {
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    font.setPixelSize(px);
    return font;
}

} // namespace kerf::views
