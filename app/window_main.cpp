// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window_main.h"

#include "app/cli/exit_codes.h"
#include "app/main_window.h"
#include "views/render.h"
#include "views/theme.h"

#include <QApplication>
#include <QIcon>
#include <QSettings>
#include <fmt/format.h>

namespace kerf::app {

bool hasDisplay() {
    return qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY") ||
           qEnvironmentVariableIsSet("QT_QPA_PLATFORM");
}

int runWindow(int argc, char** argv, const std::string& file) {
    if (!file.empty() && !std::filesystem::exists(file)) {
        fmt::print(stderr, "kerf: {}: no such file. A verb comes first: kerf --help lists them.\n",
                   file);
        return cli::kBadInput;
    }
    if (!hasDisplay()) {
        fmt::print(
            stderr,
            "kerf: there is no display for the window; use a verb instead (kerf --help), for "
            "example kerf search {} or kerf report {} -o FOLDER\n",
            file.empty() ? "PROJECT" : file, file.empty() ? "PROJECT" : file);
        return cli::kNoDisplay;
    }
    QApplication application(argc, argv);
    QApplication::setOrganizationName("Kerf");
    QApplication::setApplicationName("Kerf");
    QApplication::setApplicationDisplayName("Kerf");
    QApplication::setApplicationVersion(KERF_VERSION);
    QApplication::setDesktopFileName("kerf");
    QApplication::setWindowIcon(QIcon::fromTheme("kerf"));
    if (const auto fonts = views::requireFonts(); !fonts) {
        fmt::print(stderr, "kerf: {}\n", toString(fonts.error()));
        return cli::kFailed;
    }
    views::applyTheme(application,
                      static_cast<views::ThemeChoice>(QSettings().value("theme", 0).toInt()));
    MainWindow window;
    window.show();
    if (!file.empty()) {
        window.openFiles({QString::fromStdString(file)});
    }
    return QApplication::exec();
}

} // namespace kerf::app
