#include "engine/program/workload_run.h"

#include "analysis/source/program_search.h"
#include "analysis/source/try.h"
#include "engine/process/own_environment.h"
#include "engine/program/command_words.h"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <memory>
#include <regex.h>

namespace kernelskill::engine {
namespace {

using Pattern = std::unique_ptr<regex_t, decltype([](regex_t* pattern) {
                                    ::regfree(pattern);
                                    delete pattern; // NOLINT(cppcoreguidelines-owning-memory)
                                })>;

/// Null if there is no pattern.
Result<Pattern> compilePattern(const std::string& text) {
    if (text.empty())
        return nullptr;
    auto compiled = std::make_unique<regex_t>();
    const int problem =
        ::regcomp(compiled.get(), text.c_str(), REG_EXTENDED | REG_NOSUB | REG_NEWLINE);
    if (problem == 0)
        return Pattern(compiled.release());
    std::array<char, 200> reason{};
    ::regerror(problem, compiled.get(), reason.data(), reason.size());
    return std::unexpected(Error{ErrorKind::InvalidInput,
                                 fmt::format("the pattern cannot be read: {}", reason.data()), text,
                                 "write a POSIX extended regular expression"});
}

/// One workload's steps, one after another.
class Steps {
public:
    Steps(const Workload& workload, const WorkloadRunOptions& options, std::stop_token stop)
        : workload_(workload), options_(options), stop_(std::move(stop)),
          environment_(ownEnvironmentWith(workload.environment, workload.folder)) {}

    Result<WorkloadStep> run(std::string_view name, const std::vector<std::string>& words,
                             ChildOutcome& outcome, std::string input = {}) {
        if (options_.onStep)
            options_.onStep(name, words);
        const auto& program = words.front();
        const auto path = program.contains('/')
                              ? std::optional((workload_.folder / program).lexically_normal())
                              : analysis::findProgram(program);
        const auto missing = [&](std::string what) {
            return Error{ErrorKind::Missing,
                         fmt::format("the {} cannot be started: {}", name, what),
                         commandText(words), remedyOf(name)};
        };
        if (!path)
            return std::unexpected(missing("no such program is on the PATH"));
        const auto begin = std::chrono::steady_clock::now();
        auto done = runChild({.program = *path,
                              .arguments = {words.begin() + 1, words.end()},
                              .input = std::move(input),
                              .time = options_.time,
                              .folder = workload_.folder,
                              .environment = environment_,
                              .onOutput = options_.onOutput},
                             stop_);
        if (!done)
            return std::unexpected(done.error().kind == ErrorKind::Missing
                                       ? missing(done.error().what)
                                       : done.error());
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        outcome = std::move(*done);
        return WorkloadStep{words, outcome.status, seconds.count()};
    }

private:
    static std::string remedyOf(std::string_view step) {
        return step == "run" ? "look at its name, and whether it is built and may be executed"
                             : "look at its name, and whether it is installed";
    }

    const Workload& workload_;
    const WorkloadRunOptions& options_;
    std::stop_token stop_;
    std::vector<std::string> environment_;
};

std::optional<Error> failureOf(std::string_view step, const WorkloadStep& done) {
    if (done.status == 0)
        return std::nullopt;
    const std::string how = done.status > 128
                                ? fmt::format("was ended by signal {}", done.status - 128)
                                : fmt::format("ended with status {}", done.status);
    return Error{ErrorKind::Failed, fmt::format("the {} {}", step, how), commandText(done.command),
                 "its output says why"};
}

} // namespace

Result<WorkloadRun> runWorkload(const Workload& workload, const WorkloadRunOptions& options,
                                std::stop_token stop) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(workload.folder, ignored))
        return std::unexpected(Error{ErrorKind::InvalidInput, "the program's folder is not there",
                                     workload.folder.string(), "correct `folder` of the program"});
    KERNELSKILL_TRY(const auto pattern, compilePattern(workload.pattern));
    Steps steps(workload, options, std::move(stop));
    WorkloadRun result;
    ChildOutcome outcome;
    if (options.builds && !workload.build.empty()) {
        KERNELSKILL_TRY(result.build, steps.run("build", workload.build, outcome));
        if ((result.failure = failureOf("build", *result.build)))
            return result;
    }
    if (!options.runs)
        return result;
    KERNELSKILL_TRY(result.run, steps.run("run", workload.command, outcome));
    result.output = std::move(outcome.output);
    const std::string messages = std::move(outcome.messages);
    if ((result.failure = failureOf("run", *result.run)))
        return result;
    const auto matches = [&](const std::string& text) {
        return ::regexec(pattern.get(), text.c_str(), 0, nullptr, 0) == 0;
    };
    if (pattern && !matches(result.output) && !matches(messages)) {
        result.failure =
            Error{ErrorKind::Failed,
                  fmt::format("no line of the output matches the pattern `{}`", workload.pattern),
                  commandText(workload.command), "its output says what it found wrong"};
        return result;
    }
    if (!workload.check.empty()) {
        KERNELSKILL_TRY(result.check, steps.run("check", workload.check, outcome, result.output));
        result.failure = failureOf("check", *result.check);
    }
    return result;
}

} // namespace kernelskill::engine
