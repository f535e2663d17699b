/// Chooses how a file is read: by itself, or as a part of a source that includes it.
#pragma once

#include "analysis/command/compile_command.h"
#include "analysis/parse/translation_unit.h"

#include <filesystem>
#include <string>

namespace kernelskill::lsp {

struct ReadingRequest {
    std::filesystem::path file;
    const std::string& text;
    const std::filesystem::path& workspaceRoot; ///< Empty: includers are beside the file.
    const analysis::CompileCommands& commands;
    const analysis::Toolchain& toolchain;
    const analysis::UnsavedFiles& unsaved;
    analysis::ParsePurpose purpose = analysis::ParsePurpose::Editing;
};

struct Reading {
    analysis::CompileCommand command;
    analysis::TranslationUnit unit;
};

/// Reads a header through the best source that includes it, and so a source that is included and
/// has errors, or kernels but no launch, if it stands alone: there its kernels have launches, and
/// what is declared before it is known. Among several such sources and the file itself, the reading
/// with the fewest errors is taken. `alone` is the command of the file itself. An error if the
/// parser gives up on the file itself.
[[nodiscard]] Result<Reading> chooseReading(const ReadingRequest& request,
                                            const analysis::CompileCommand& alone);

} // namespace kernelskill::lsp
