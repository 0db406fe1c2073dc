// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/keys_dialog.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace kerf::app {

namespace {

struct Key {
    const char* keys;
    const char* does;
};
struct Group {
    const char* name;
    std::vector<Key> keys;
};

const std::vector<Group>& groups() {
    static const std::vector<Group> all{
        {QT_TR_NOOP("Window"),
         {{"Ctrl+O", "open a project or recordings"},
          {"Ctrl+S", "save"},
          {"Ctrl+Z, Ctrl+Shift+Z", "undo, redo (a whole drag is one step)"},
          {"Ctrl+B", "search the best composition of this recording"},
          {"Ctrl+Shift+B", "search all recordings"},
          {"Ctrl+E", "export the report"},
          {"Esc", "cancel a drag"},
          {"?", "this list"}}},
        {QT_TR_NOOP("Composition"),
         {{"drag a handle", "move a boundary"},
          {"Left, Right", "move the selected boundary by one place"},
          {"Tab, Up, Down", "go through regions, boundaries and loops"},
          {"S", "split here"},
          {"M", "merge here"},
          {"C", "megakernel or conventional; a loop: cut each iteration or fused"},
          {"double click", "on a region switches its mode, on a block splits"}}},
        {QT_TR_NOOP("Timeline"),
         {{"wheel, W, S", "zoom about the cursor"},
          {"drag, A, D", "pan"},
          {"Shift+drag", "select a range"},
          {"M", "zoom to the selection"},
          {"F, double click", "fit"},
          {"Ctrl+C, right click", "copy what is under the cursor"}}},
        {QT_TR_NOOP("Candidates and category map"),
         {{"arrow keys", "go through rows and cells"},
          {"Enter, double click", "show it on the strip"}}},
    };
    return all;
}

} // namespace

KeysDialog::KeysDialog(QWidget* parent) : QDialog(parent) {
    setWindowTitle(tr("Keys"));
    setObjectName("keysDialog");
    auto* tree = new QTreeWidget;
    tree->setColumnCount(2);
    tree->setHeaderHidden(true);
    tree->setRootIsDecorated(false);
    tree->setSelectionMode(QAbstractItemView::NoSelection);
    for (const auto& group : groups()) {
        auto* top = new QTreeWidgetItem(tree, {tr(group.name)});
        QFont bold = top->font(0);
        bold.setBold(true);
        top->setFont(0, bold);
        top->setFirstColumnSpanned(true);
        for (const auto& key : group.keys) {
            new QTreeWidgetItem(top, {tr(key.keys), tr(key.does)});
        }
    }
    tree->expandAll();
    tree->resizeColumnToContents(0);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::close);
    auto* column = new QVBoxLayout(this);
    column->addWidget(tree);
    column->addWidget(buttons);
    resize(620, 620);
}

} // namespace kerf::app
