#include "lsp-server/documents/text_lookup.h"

#include "analysis/source/files.h"

namespace kernelskill::lsp {

const analysis::SourceText& TextLookup::operator()(const std::string& file) {
    if (program_.model && file == program_.model->file)
        return *program_.model->source;
    auto& text = texts_[file];
    if (text)
        return *text;
    if (file == program_.file) {
        text = std::make_shared<const analysis::SourceText>(program_.text);
    } else if (const auto open = program_.unsaved.find(file); open != program_.unsaved.end()) {
        text = std::make_shared<const analysis::SourceText>(open->second);
    } else {
        text = std::make_shared<const analysis::SourceText>(analysis::readFile(file).value_or(""));
    }
    return *text;
}

} // namespace kernelskill::lsp
