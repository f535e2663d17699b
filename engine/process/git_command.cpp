#include "engine/process/git_command.h"

#include "analysis/source/program_search.h"

#include <chrono>
#include <iterator>
#include <utility>

namespace kernelskill::engine {

Result<ChildOutcome> runGit(const std::filesystem::path& folder, std::vector<std::string> arguments,
                            GitOwner owner, std::stop_token stop, std::string input) {
    constexpr std::chrono::seconds patience{20};
    const auto git = analysis::findProgram("git");
    if (!git)
        return std::unexpected(Error{ErrorKind::Missing, "git was not found", {}, "install git"});
    std::vector<std::string> words{"--no-optional-locks", "-c", "core.fsmonitor=false", "-C",
                                   folder.string()};
    if (owner == GitOwner::Believed)
        words.insert(words.begin(), {"-c", "safe.directory=*"});
    words.insert(words.end(), std::make_move_iterator(arguments.begin()),
                 std::make_move_iterator(arguments.end()));
    return runChild({.program = *git,
                     .arguments = std::move(words),
                     .input = std::move(input),
                     .time = patience},
                    std::move(stop));
}

} // namespace kernelskill::engine
