/// Texts of files that are not the document at hand: headers with kernels, launch sites elsewhere.
#pragma once

#include "analysis/source/source_text.h"
#include "engine/execution/program_source.h"

#include <map>
#include <memory>
#include <string>

namespace kernelskill::lsp {

/// Reads what a program was parsed with: its own text, the editor's overlay, else the disk. Keeps
/// what it has read. One thread.
class TextLookup {
public:
    /// `program` outlives the lookup.
    explicit TextLookup(const engine::ProgramSource& program) : program_(program) {}
    /// Empty when the file cannot be read.
    [[nodiscard]] const analysis::SourceText& operator()(const std::string& file);

private:
    const engine::ProgramSource& program_;
    std::map<std::string, std::shared_ptr<const analysis::SourceText>> texts_;
};

} // namespace kernelskill::lsp
