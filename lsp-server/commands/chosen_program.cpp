#include "lsp-server/commands/chosen_program.h"

#include "analysis/source/try.h"
#include "lsp-server/program/program_profiling.h"

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
    KERNELSKILL_TRY(chosen.folder, placeInWorkspace(chosen.workload, chosen.place.root));
    return chosen;
}

} // namespace kernelskill::lsp
