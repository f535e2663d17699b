#include "engine/whole_program/program_pair.h"

#include "analysis/source/files.h"
#include "analysis/source/trimmed.h"
#include "analysis/source/try.h"
#include "engine/program/build_flags.h"
#include "engine/program/workload_copy.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <mutex>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

/// An edited program that runs so many times as long as the original does not end.
constexpr double patience = 10;
/// So many more runs of the original tell whether a difference is the program's own.
constexpr int moreRuns = 3;

/// The first line that names an error, else the last line.
std::string tellingLine(std::string_view messages) {
    constexpr std::size_t most = 300;
    std::string_view telling;
    while (!messages.empty()) {
        const auto end = std::min(messages.find('\n'), messages.size());
        const auto line = analysis::trimmed(messages.substr(0, end));
        messages.remove_prefix(std::min(end + 1, messages.size()));
        if (!line.empty())
            telling = line;
        if (line.contains("error") || line.contains("Error"))
            break;
    }
    return std::string(telling.substr(0, most));
}

std::string described(const Error& failure, const std::string& messages) {
    const std::string line = tellingLine(messages);
    return failure.what + (line.empty() ? "" : ": " + line);
}

/// The error of an original that passed before.
Error failedLater(const Error& failure, const std::string& messages) {
    return {ErrorKind::Failed,
            "in a further run the original failed: " + described(failure, messages), failure.where,
            failure.remedy};
}

/// The failure of a run of the edited program, in words; nullopt if it passed. Only Cancelled is an
/// error.
Result<std::optional<std::string>> failureOf(const Result<WorkloadRun>& done,
                                             const std::string& messages) {
    if (!done && done.error().kind == ErrorKind::Cancelled)
        return std::unexpected(done.error());
    if (!done)
        return done.error().describe();
    if (done->failure)
        return described(*done->failure, messages);
    return std::nullopt;
}

/// Waits; Cancelled on `stop`.
Result<void> pause(std::chrono::milliseconds time, const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    if (std::condition_variable_any().wait_for(lock, stop, time,
                                               [&] { return stop.stop_requested(); }))
        return std::unexpected(Error{ErrorKind::Cancelled, "stopped", {}, {}});
    return {};
}

/// Whether the path is in the copy with links followed. Nothing is written elsewhere.
bool isInCopy(const fs::path& path, const fs::path& root) {
    return analysis::isBelow(analysis::canonicalPath(path), analysis::canonicalPath(root));
}

/// A folder of the tree and its copy.
struct CopiedFolder {
    fs::path from;
    fs::path to;
};

/// Copies compile_commands.json of the folder and replaces the tree's path in it by the copy's.
/// Returns whether the folder's copy has the file now.
bool copyDatabase(const CopiedFolder& folder, const fs::path& tree, const fs::path& root) {
    constexpr const char* name = "compile_commands.json";
    const auto text = analysis::readFile(folder.from / name);
    if (!text || !isInCopy(folder.to, root))
        return false;
    const std::string moved = withMovedPath(*text, tree, root);
    const fs::path file = folder.to / name;
    std::error_code error;
    if (analysis::isFile(file) && !fs::is_symlink(file, error) && moved == *text)
        return true;
    fs::create_directories(folder.to, error);
    fs::remove(file, error);
    std::ofstream stream(file, std::ios::binary);
    return static_cast<bool>((stream << moved).flush());
}

/// A program that one nvcc builds is read with the flags of that nvcc, unless the tree says how its
/// files are compiled.
void writeFlags(const Workload& workload, const fs::path& root) {
    const auto flags = nvccFlagsOf(workload.build);
    for (fs::path at = workload.folder; analysis::isBelow(at, root); at = at.parent_path())
        for (const char* name :
             {"compile_flags.txt", "compile_commands.json", "build/compile_commands.json"})
            if (analysis::pathExists(at / name))
                return;
    if (flags.empty() || !isInCopy(workload.folder, root))
        return;
    std::ofstream stream(workload.folder / "compile_flags.txt");
    for (const std::string& flag : flags)
        stream << flag << '\n';
}

} // namespace

std::string_view spelling(ProgramCheck check) {
    switch (check) {
    case ProgramCheck::Command:
        return "check";
    case ProgramCheck::Pattern:
        return "pattern";
    case ProgramCheck::Output:
        return "output";
    case ProgramCheck::Buffers:
        return "buffers";
    case ProgramCheck::Status:
        break;
    }
    return "status";
}

Result<std::unique_ptr<ProgramPair>> ProgramPair::make(const SourceTree& tree,
                                                       const Workload& workload,
                                                       ProgramPairOptions options,
                                                       std::stop_token stop) {
    std::error_code error;
    auto folder = TemporaryFolder::make(fs::canonical(fs::temp_directory_path(error), error),
                                        "kernelskill-optimize");
    if (!folder)
        return std::unexpected(Error{ErrorKind::Failed, "no temporary folder", {}, "set TMPDIR"});
    std::unique_ptr<ProgramPair> pair(
        new ProgramPair(std::move(*folder), std::move(options), std::move(stop)));
    pair->tree_ = tree.root;
    for (const fs::path& root : {pair->originalRoot(), pair->editedRoot()}) {
        KERNELSKILL_TRY(pair->copied_, copyTree(tree, root, pair->options_.limits, pair->stop_));
        fs::create_directories(root / ".kernelskill", error); // It is a workspace of its own.
        fs::create_directories(withMovedPath(workload.folder.string(), tree.root, root), error);
    }
    pair->original_ = workloadInCopy(workload, tree.root, pair->originalRoot());
    pair->edited_ = workloadInCopy(workload, tree.root, pair->editedRoot());
    for (const auto& [copy, root] : {std::pair(&pair->original_, pair->originalRoot()),
                                     std::pair(&pair->edited_, pair->editedRoot())})
        if (const auto build = cmakeBuildFolder(*copy); build && !isInCopy(*build, root))
            return std::unexpected(Error{
                ErrorKind::InvalidInput,
                "the build folder lies outside of the workspace, so a copy of the program "
                "cannot be built in a folder of its own",
                cmakeBuildFolder(workload)->string(),
                "build into a folder of the workspace: cmake -B build && cmake --build build"});
    for (const char* name : {"", "build"})
        static_cast<void>(copyDatabase({tree.root / name, pair->originalRoot() / name}, tree.root,
                                       pair->originalRoot()));
    writeFlags(pair->original_, pair->originalRoot());
    return pair;
}

void ProgramPair::say(std::string_view what) const {
    if (options_.onStep)
        options_.onStep(what);
}

Result<WorkloadRun> ProgramPair::run(const Workload& workload, WorkloadRunOptions options,
                                     std::string& messages) const {
    options.onOutput = [&](int, std::string_view text) {
        constexpr std::size_t kept = 64 << 10;
        messages += text;
        if (messages.size() > 2 * kept)
            messages.erase(0, messages.size() - kept);
    };
    return runWorkload(workload, options, stop_);
}

Result<void> ProgramPair::buildOriginal() {
    const auto fails = [&](const Error& failure, const std::string& messages,
                           std::string_view remedy) {
        return std::unexpected(
            Error{ErrorKind::Failed,
                  "the original fails in a copy of the tree: " + described(failure, messages),
                  failure.where, std::string(remedy)});
    };
    std::string messages;
    say("building the original");
    KERNELSKILL_TRY(const auto built, run(original_, {.builds = true, .runs = false}, messages));
    if (built.failure)
        return fails(*built.failure, messages,
                     copied_.leftOut.empty()
                         ? "the build may need files that .gitignore names"
                         : fmt::format("the build may need files that .gitignore names, or one of "
                                       "{} untracked build outputs that were left out, such as {}",
                                       copied_.leftOut.size(), copied_.leftOut.front().string()));
    if (original_.check.empty() && original_.pattern.empty())
        buffers_ = BufferRecords(folder_.path() / "buffers", options_.recordBuffers);
    for (const bool isFirst : {true, false}) {
        if (!isFirst)
            KERNELSKILL_CHECK(pause(options_.betweenRuns, stop_));
        say(isFirst ? "running the original" : "running the original again");
        messages.clear();
        KERNELSKILL_TRY(const auto ran, runOriginal(isFirst ? BufferRecords::Run::First
                                                            : BufferRecords::Run::Further,
                                                    messages));
        if (ran.failure)
            return fails(*ran.failure, messages, "the program has to pass before it is edited");
        runSeconds_ = std::max(runSeconds_, ran.run->seconds);
        if (isFirst)
            printed_.emplace(ran.output);
        else
            printed_->add(ran.output);
    }
    if (buffers_.isRecording())
        buffers_.compareOriginals();
    return {};
}

Result<WorkloadRun> ProgramPair::runOriginal(BufferRecords::Run run, std::string& messages) {
    const Workload workload = buffers_.recorded(original_, run);
    KERNELSKILL_TRY(auto ran, this->run(workload, {.builds = false}, messages));
    if (!ran.failure || !buffers_.isRecording())
        return ran;
    buffers_.stop("the program fails while they are recorded");
    messages.clear();
    return this->run(original_, {.builds = false}, messages);
}

Result<void> ProgramPair::runOriginalAgain() {
    if (isRunAgain_)
        return {};
    isRunAgain_ = true;
    const int count = runsLong() ? 1 : moreRuns;
    for (int i = 1; i <= count; ++i) {
        say(fmt::format("running the original again, since something differs, {} of {}", i, count));
        KERNELSKILL_CHECK(pause(options_.betweenRuns, stop_));
        KERNELSKILL_CHECK(secondsOfOriginal());
        if (!buffers_.isRecording())
            continue;
        std::string messages;
        KERNELSKILL_TRY(const auto ran, runOriginal(BufferRecords::Run::Further, messages));
        if (ran.failure)
            return std::unexpected(failedLater(*ran.failure, messages));
        printed_->add(ran.output);
        buffers_.addOriginal();
    }
    return {};
}

Result<std::optional<std::string>> ProgramPair::outputDifference(std::string_view output) {
    if (check() != ProgramCheck::Output || !printed_->differenceTo(output))
        return std::nullopt;
    KERNELSKILL_CHECK(runOriginalAgain());
    if (auto difference = printed_->differenceTo(output))
        return "the output differs: " + *difference;
    return std::nullopt;
}

Result<std::optional<std::string>> ProgramPair::bufferDifference() {
    if (!buffers_.difference())
        return std::nullopt;
    KERNELSKILL_CHECK(runOriginalAgain());
    return buffers_.difference();
}

Result<TimelineSummary> ProgramPair::timelineOfOriginal() const {
    say("timing the original's kernels");
    return options_.timeline(original_, stop_);
}

ProgramCheck ProgramPair::check() const {
    if (!original_.check.empty())
        return ProgramCheck::Command;
    if (!original_.pattern.empty())
        return ProgramCheck::Pattern;
    if (printed_ && printed_->isComparable())
        return ProgramCheck::Output;
    return buffers_.compared() ? ProgramCheck::Buffers : ProgramCheck::Status;
}

std::string ProgramPair::outputNote() const {
    const bool isCompared = original_.check.empty() && original_.pattern.empty();
    if (!printed_ || !isCompared)
        return {};
    if (printed_->isComparable())
        return printed_->note();
    return fmt::format("{}, so only the exit status{}", printed_->note(),
                       buffers_.compared() ? " and the GPU's memory count" : " counts");
}

Result<std::string> ProgramPair::textOf(const std::string& file) const {
    auto text = analysis::readFile(originalRoot() / file);
    if (!text)
        return std::unexpected(Error{ErrorKind::Failed,
                                     "a file of the copy cannot be read",
                                     (originalRoot() / file).string(),
                                     {}});
    return std::move(*text);
}

fs::path ProgramPair::databaseFolder(const fs::path& folder) const {
    const fs::path from = analysis::canonicalPath(folder);
    const fs::path tree = analysis::canonicalPath(tree_);
    const fs::path root = originalRoot();
    // A database may name folders relative to its own, so it keeps its place.
    const fs::path to = analysis::isBelow(from, tree)
                            ? (root / from.lexically_relative(tree)).lexically_normal()
                            : root / ".kernelskill/database";
    return copyDatabase({from, to}, tree_, root) ? to : folder;
}

Result<void> ProgramPair::write(const analysis::EditSet& edits) {
    const auto put = [&](const std::string& file, const std::string& text) -> Result<void> {
        std::ofstream stream(editedRoot() / file, std::ios::binary | std::ios::trunc);
        if (!(stream << text).flush())
            return std::unexpected(Error{ErrorKind::Failed, "a file of the copy cannot be written",
                                         (editedRoot() / file).string(), "look at TMPDIR"});
        return {};
    };
    for (const std::string& file : editedFiles_) {
        if (edits.contains(file))
            continue;
        KERNELSKILL_TRY(const auto text, textOf(file));
        KERNELSKILL_CHECK(put(file, text));
    }
    editedFiles_.clear();
    for (const auto& [file, fileEdits] : edits) {
        KERNELSKILL_TRY(const auto text, textOf(file));
        KERNELSKILL_TRY(const auto edited, analysis::applyEdits(text, fileEdits));
        editedFiles_.push_back(file);
        KERNELSKILL_CHECK(put(file, edited));
    }
    return {};
}

Result<std::optional<std::string>> ProgramPair::tryEdits(const analysis::EditSet& edits) {
    KERNELSKILL_CHECK(write(edits));
    say("building the edited program");
    std::string messages;
    KERNELSKILL_TRY(auto failure,
                    failureOf(run(edited_, {.builds = true, .runs = false}, messages), messages));
    if (failure)
        return failure;
    say("running the edited program");
    KERNELSKILL_TRY(auto ran, runEdited(buffers_.recorded(edited_, BufferRecords::Run::Edited)));
    if (ran.failure)
        return std::move(ran.failure);
    return bufferDifference();
}

Result<ProgramPair::EditedRun> ProgramPair::runEdited(const Workload& workload) {
    const std::chrono::duration<double> limit(patience * runSeconds_);
    std::string messages;
    const auto done =
        run(workload,
            {.builds = false,
             .time = std::max(options_.minPatience,
                              std::chrono::duration_cast<std::chrono::milliseconds>(limit))},
            messages);
    KERNELSKILL_TRY(auto failure, failureOf(done, messages));
    if (!failure) {
        KERNELSKILL_TRY(failure, outputDifference(done->output));
    }
    return EditedRun{std::move(failure), done && done->run ? done->run->seconds : 0};
}

Result<double> ProgramPair::secondsOfOriginal() {
    Workload alone = original_;
    alone.check.clear();
    alone.pattern.clear();
    std::string messages;
    KERNELSKILL_TRY(const auto done, run(alone, {.builds = false}, messages));
    if (done.failure)
        return std::unexpected(failedLater(*done.failure, messages));
    // With a recorder, memory that it did not set may hold something else.
    if (printed_)
        printed_->add(done.output);
    return done.run->seconds;
}

bool ProgramPair::runsLong() const {
    return std::chrono::duration<double>(runSeconds_) > options_.longRun;
}

Result<TimedTurns> ProgramPair::time() {
    const int count = runsLong() ? 1 : 3;
    const auto failed = [](const std::string& why) {
        return TimedTurns{{}, "while it was timed, " + why};
    };
    ProgramTurns turns;
    for (int i = 1; i <= count; ++i) {
        say(fmt::format("timing both programs, turn {} of {}", i, count));
        TimePair wall;
        KERNELSKILL_TRY(wall.before, secondsOfOriginal());
        KERNELSKILL_TRY(const auto edited, runEdited(edited_));
        if (edited.failure)
            return failed(*edited.failure);
        wall.after = edited.seconds;
        turns.wall.push_back(wall);
        TimelineTurn turn;
        KERNELSKILL_TRY(turn.before, options_.timeline(original_, stop_));
        auto after = options_.timeline(edited_, stop_);
        if (!after && after.error().kind == ErrorKind::Cancelled)
            return std::unexpected(after.error());
        if (!after)
            return failed(after.error().describe());
        turn.after = std::move(*after);
        turns.kernels.push_back(std::move(turn));
    }
    return TimedTurns{std::move(turns), {}};
}

} // namespace kernelskill::engine
