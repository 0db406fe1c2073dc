// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/composition.h"

#include <QUndoCommand>
#include <optional>

namespace kerf::app {

class Session;

/// One edit of a model's composition: a whole drag, a split, a merge, a mode switch.
class EditComposition : public QUndoCommand {
public:
    EditComposition(Session& session, std::string model,
                    std::optional<graph::NamedComposition> before, graph::NamedComposition after,
                    const QString& text);
    void undo() override;
    void redo() override;

private:
    Session& session_;
    std::string model_;
    std::optional<graph::NamedComposition> before_; ///< none: nothing was chosen yet
    graph::NamedComposition after_;
};

} // namespace kerf::app
