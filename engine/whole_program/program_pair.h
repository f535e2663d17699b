/// A user's program in two copies of its tree: as it is, and with edits.
#pragma once

#include "engine/program/source_tree.h"
#include "engine/program/workload_run.h"
#include "engine/storage/temporary_folder.h"
#include "engine/whole_program/buffer_records.h"
#include "engine/whole_program/edit_trial.h"
#include "engine/whole_program/printed_output.h"

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// Runs the workload, without its build and check, with a timeline. The program's status has to be
/// 0.
using TimelineOf =
    std::function<Result<TimelineSummary>(const Workload& workload, const std::stop_token& stop)>;

struct ProgramPairOptions {
    CopyLimits limits;
    TimelineOf timeline;
    BufferRecording recordBuffers = {}; ///< Null: buffers are not compared.
    /// Says what begins: "building the original", ...
    std::function<void(std::string_view)> onStep = {};
    /// The pause between two runs whose outputs are compared: a program may take the time, in
    /// seconds, for a seed.
    std::chrono::milliseconds betweenRuns{1100};
    /// The min time limit of an edited program, which otherwise gets ten times the original's time.
    std::chrono::milliseconds minPatience{60'000};
    /// A program that runs longer is timed once, others three times.
    std::chrono::milliseconds longRun{20'000};
};

/// The check that tells whether an edited program is right. Output and Buffers: buffers on the GPU
/// are compared in both cases, as far as they can be.
enum class ProgramCheck : std::uint8_t { Command, Pattern, Output, Buffers, Status };
/// "check", "pattern", "output", "buffers", "status"
[[nodiscard]] std::string_view spelling(ProgramCheck check);

/// The copies live in a temporary folder, which goes with the object.
class ProgramPair final : public TrialProgram {
public:
    /// Copies the tree, which holds the workload's folder, twice. Errors as of copyTree();
    /// InvalidInput if the workload builds by `cmake --build` outside of the tree.
    [[nodiscard]] static Result<std::unique_ptr<ProgramPair>> make(const SourceTree& tree,
                                                                   const Workload& workload,
                                                                   ProgramPairOptions options,
                                                                   std::stop_token stop);

    /// Builds the original, and runs and checks it twice. Failed if a step of it fails.
    [[nodiscard]] Result<void> buildOriginal();
    [[nodiscard]] Result<TimelineSummary> timelineOfOriginal() const;

    [[nodiscard]] const Workload& original() const { return original_; }
    /// The root of the original's copy, where kernels may be searched.
    [[nodiscard]] std::filesystem::path originalRoot() const { return folder_.path() / "original"; }
    /// A folder that goes with the copies.
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
    [[nodiscard]] const TreeCopy& copied() const { return copied_; }

    /// Says what buildOriginal() has found of the output; empty if all of it is compared, or none
    /// has to be.
    [[nodiscard]] std::string outputNote() const;
    /// The records of the buffers on the GPU. buildOriginal() decides which are compared.
    [[nodiscard]] const BufferRecords& buffers() const { return buffers_; }
    [[nodiscard]] ProgramCheck check() const;
    /// The original's output, after buildOriginal().
    [[nodiscard]] const std::optional<PrintedOutput>& printed() const { return printed_; }

    /// Whether a run of the original takes longer than the options' `longRun`.
    [[nodiscard]] bool runsLong() const;

    /// The text of a file of the tree before edits. `file` is from the root. Failed if it cannot be
    /// read.
    [[nodiscard]] Result<std::string> textOf(const std::string& file) const;

    /// Copies the compile_commands.json in `folder` so that it names the original's copy in place
    /// of the tree, and returns the new folder; `folder` if that fails.
    [[nodiscard]] std::filesystem::path databaseFolder(const std::filesystem::path& folder) const;

    [[nodiscard]] Result<std::optional<std::string>>
    tryEdits(const analysis::EditSet& edits) override;
    [[nodiscard]] Result<TimedTurns> time() override;

private:
    ProgramPair(TemporaryFolder folder, ProgramPairOptions options, std::stop_token stop)
        : folder_(std::move(folder)), options_(std::move(options)), stop_(std::move(stop)) {}

    [[nodiscard]] std::filesystem::path editedRoot() const { return folder_.path() / "edited"; }
    void say(std::string_view what) const;
    [[nodiscard]] Result<WorkloadRun> run(const Workload& workload, WorkloadRunOptions options,
                                          std::string& messages) const;
    /// Writes the edited texts, and the original ones where earlier edits were.
    [[nodiscard]] Result<void> write(const analysis::EditSet& edits);
    struct EditedRun {
        std::optional<std::string> failure; ///< nullopt if it passed.
        double seconds = 0;                 ///< The program's time.
    };
    /// Runs the original, again without a recorder if it fails with one.
    [[nodiscard]] Result<WorkloadRun> runOriginal(BufferRecords::Run run, std::string& messages);
    /// Runs the original some more times, with a recorder and without one, unless this was done
    /// before: what differs then is not compared.
    [[nodiscard]] Result<void> runOriginalAgain();
    /// Says how the edited program's output differs from the original's, also after more runs of
    /// the original.
    [[nodiscard]] Result<std::optional<std::string>> outputDifference(std::string_view output);
    /// Says how the edited program's buffers differ, also after more runs of the original.
    [[nodiscard]] Result<std::optional<std::string>> bufferDifference();
    /// Runs the edited program as it is built, `workload`, checks it and compares its output.
    [[nodiscard]] Result<EditedRun> runEdited(const Workload& workload);
    /// Times the original, and adds what it prints without a recorder.
    [[nodiscard]] Result<double> secondsOfOriginal();

    TemporaryFolder folder_;
    ProgramPairOptions options_;
    std::stop_token stop_;
    std::filesystem::path tree_; ///< The root of the user's tree.
    TreeCopy copied_;
    Workload original_;
    Workload edited_;
    std::optional<PrintedOutput> printed_;
    BufferRecords buffers_;
    bool isRunAgain_ = false;              ///< Whether runOriginalAgain() has run it.
    double runSeconds_ = 0;                ///< The time of the original's longest run.
    std::vector<std::string> editedFiles_; ///< The files that differ from the original's now.
};

} // namespace kernelskill::engine
