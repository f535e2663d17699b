#include "lsp-server/commands/chosen_program.h"

#include "analysis/source/files.h"
#include "analysis/source/try.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

namespace kernelskill::lsp {

Result<ChosenProgram> chosenProgram(const std::string& name, const Invocation& invocation) {
    const auto& words = invocation.options.fallbackFlags;
    if (words.empty() == name.empty())
        return std::unexpected(Error{
            ErrorKind::InvalidInput,
            name.empty() ? "no program to run" : "both --program and a program are given",
            {},
            "put it behind `--`, or name one of `kernelskill program detect` with --program"});
    ChosenProgram chosen{{}, currentPlace(), {}};
    if (!chosen.place.isOwn)
        return std::unexpected(notOwn(chosen.place));
    if (name.empty()) {
        chosen.workload.name = words.front();
        chosen.workload.command = words;
        chosen.workload.folder = chosen.place.folder;
        chosen.workload.origin = "command line";
    } else {
        const auto programs = programsAt(chosen.place);
        KERNELSKILL_TRY(chosen.workload, engine::chooseProgram(programs, name));
    }
    // A link may lead out of the workspace.
    const auto root = analysis::canonicalPath(chosen.place.root);
    const auto folder = analysis::canonicalPath(chosen.workload.folder);
    if (!analysis::isBelow(folder, root))
        return std::unexpected(Error{ErrorKind::InvalidInput,
                                     "the program runs outside of the workspace", folder.string(),
                                     "correct `folder` of the program"});
    chosen.workload.folder = folder;
    chosen.folder = folder.lexically_relative(root);
    return chosen;
}

} // namespace kernelskill::lsp
