// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/edit_composition.h"

#include "app/session.h"

namespace kerf::app {

EditComposition::EditComposition(Session& session, std::string model,
                                 std::optional<graph::NamedComposition> before,
                                 graph::NamedComposition after, const QString& text)
    : QUndoCommand(text), session_(session), model_(std::move(model)), before_(std::move(before)),
      after_(std::move(after)) {}

void EditComposition::undo() {
    session_.applyChosen(model_, before_);
}

void EditComposition::redo() {
    session_.applyChosen(model_, after_);
}

} // namespace kerf::app
