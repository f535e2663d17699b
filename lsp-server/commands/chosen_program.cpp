#include "lsp-server/commands/chosen_program.h"

#include "analysis/source/try.h"
#include "engine/program/command_words.h"
#include "engine/program/workload_run.h"
#include "lsp-server/program/program_profiling.h"

#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

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

Result<void> buildInTerminal(const engine::Workload& workload, const std::stop_token& stop) {
    engine::WorkloadRunOptions options;
    options.onStep = [](std::string_view step, const std::vector<std::string>& command) {
        fmt::print(stderr, "{}: {}\n", step, engine::commandText(command));
    };
    options.onOutput = [](int, std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stderr);
    };
    return buildWorkload(workload, std::move(options), stop);
}

} // namespace kernelskill::lsp
