/// Optimises a whole program in copies of its tree.
#pragma once

#include "analysis/source/text_edit.h"
#include "lsp-server/program/program_search.h"
#include "lsp-server/report/program_optimization_report.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::lsp {

struct ProgramInTree {
    engine::Workload workload;            ///< With its build command.
    std::filesystem::path root;           ///< Of the tree that is copied.
    std::filesystem::path folder;         ///< The workload's, from the root.
    std::uint64_t copyBytes = 1ull << 30; ///< The max size of the tree, which is copied twice.
};

/// A file with the edits that are kept.
struct EditedFile {
    std::string before;
    std::vector<analysis::TextEdit> edits;
};

struct ProgramOptimization {
    ProgramOptimizationReport report;
    std::map<std::filesystem::path, EditedFile> files; ///< By their paths in the tree.
};

/// Copies the tree, searches the program's hot kernels, and builds, checks and times the program
/// with their edits. The tree stays as it is. Errors: those of a build, of a run and of
/// searchProgram().
[[nodiscard]] Result<ProgramOptimization> optimizeInCopies(const ProgramInTree& program,
                                                           const ProgramSearch& search,
                                                           const SearchTools& tools,
                                                           const std::stop_token& stop);

} // namespace kernelskill::lsp
