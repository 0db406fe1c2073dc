// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/render.h"

#include "core/base/atomic_file.h"

#include <QBuffer>
#include <QFontDatabase>
#include <QLayout>
#include <QPainter>
#include <QWidget>

#include <cmath>

namespace kerf::views {

QImage renderToImage(QWidget& widget, QSize size, double dpr) {
    const QSize before = widget.size();
    widget.ensurePolished();
    widget.resize(size);
    if (QLayout* layout = widget.layout()) {
        layout->activate();
    }
    // Rounded up, so that the last row and column of a fractional ratio are not lost.
    QImage image(static_cast<int>(std::ceil(size.width() * dpr)),
                 static_cast<int>(std::ceil(size.height() * dpr)), QImage::Format_ARGB32);
    image.setDevicePixelRatio(dpr);
    image.fill(widget.palette().color(QPalette::Window));
    widget.render(&image);
    widget.resize(before);
    return image;
}

Expected<void> writePng(const QImage& image, const std::filesystem::path& file) {
    QByteArray content;
    QBuffer buffer(&content);
    buffer.open(QIODevice::WriteOnly);
    if (image.isNull() || !image.save(&buffer, "PNG")) {
        return fail("there is no picture to write", file.string());
    }
    return writeFileAtomically(file,
                               {content.constData(), static_cast<std::size_t>(content.size())});
}

Expected<void> requireFonts() {
    if (QFontDatabase::families().isEmpty()) {
        return fail("no font is installed, so no text can be drawn", {},
                    "Install one, for example: apt-get install fonts-dejavu-core");
    }
    return {};
}

} // namespace kerf::views
