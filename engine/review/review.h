/// One review: the state that its steps share. Only the Reviewer makes one.
#pragma once

#include "engine/inputs/trial.h"
#include "engine/review/edit_evidence.h"
#include "engine/review/error_judgement.h"
#include "engine/review/host/host_order.h"
#include "engine/review/output_judgement.h"
#include "engine/review/review_images.h"
#include "engine/review/reviewer.h"
#include "engine/review/synchronisation_change.h"
#include "engine/review/trial_run.h"

#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace kernelskill::engine {

/// One review, step by step. Each step appends its checks; a failed one ends the review.
class Review {
public:
    /// The references live as long as the review. `gpu` and `progress` may be empty.
    Review(Executor& executor, const analysis::Toolchain& toolchain, KernelRef original,
           const skills::Accuracy& accuracy, const GpuSource& gpu, const ReviewOptions& options,
           std::stop_token stop, const ProgressSink& progress);

    /// Performs all steps, once.
    [[nodiscard]] Result<Verdict> run(const analysis::EditSet& edits);

private:
    [[nodiscard]] Result<Verdict> finished();

    void report(std::string_view what, double fraction) const {
        if (progress_)
            progress_(what, fraction);
    }

    /// Adds a check. Returns whether the review continues.
    bool take(CheckResult result);

    [[nodiscard]] CheckResult doesNotCompile(std::string name) const;

    /// The candidate did not run to its end, although the original did.
    [[nodiscard]] static CheckResult doesNotRun(const Trial& trial, const TrialPlace& place,
                                                const Runs& runs);

    bool parseCandidate(const analysis::EditSet& edits);
    bool keepsHostCode();
    bool planRuns();
    bool keepsHardwareRules();
    /// Runs do not reach the sizes at which narrow positions wrap around, so this check does.
    bool keepsWidths();
    /// Nor do they follow pointers that step through a thread's own array, or fill every array.
    bool keepsOwnArrays();
    /// Adds a check to the verdict if the candidate is proved to have no race.
    void proveNoRaces();
    bool build();
    // review_size.cpp
    /// Makes runs smaller that the emulator would take long for.
    bool fitSize();
    /// The work of the version that takes longer, as of workOf(); nullopt if the original does not
    /// run.
    [[nodiscard]] std::optional<double> workOfTrial(const Trial& trial) const;
    void usePlan(TrialPlan plan);
    [[nodiscard]] std::optional<TrialPlan> planWithFewerThreads(double factor) const;
    /// Gives guessed launches that take long fewer rounds of their loops, if that is enough.
    bool shortenLoops();
    bool reviewSmallerProgram(double factor);
    // review_fused.cpp
    /// Reviews each fused kernel against the two that it stands for. The verdict is about them.
    bool keepsFusedKernels();
    /// Reviews each kernel that the edit splits: the two, one after the other, have to do what it
    /// did. The verdict is about them.
    bool keepsSplitKernels();
    /// Reviews the edits of a kernel as the check `name`, and takes the verdict for its own. `how`
    /// is said where the check holds.
    bool keepsKernel(const std::string& name, KernelRef kernel, const analysis::EditSet& edits,
                     std::string_view how);
    // review_others.cpp
    /// Reviews each other kernel of the program that the edit changes.
    bool keepsOtherKernels();
    // review_trials.cpp
    bool runTrials();
    bool runBatch(const std::vector<Comparand>& batch);
    bool judge(const Comparand& comparand, Runs runs);
    // review_probes.cpp
    /// Runs the probes of the first instance, once.
    bool runProbes();
    bool runProbes(const std::vector<Trial>& probes);
    bool judgeProbe(const Comparand& comparand, Runs runs);
    /// Whether the original divides by zero on this input where nothing needs the quotient: the
    /// compiler leaves such a division out, and in the edit something may need it.
    [[nodiscard]] bool hidesDivisionByZero(const Comparand& comparand) const;
    /// Whether a run has no hazards, suspected races and divergent barriers aside.
    [[nodiscard]] static bool isClean(const Profile& profile);
    /// Keeps the original's outputs for the control if they have the sizes of the first trial's.
    void keepForControl(const Trial& probe, const RunPair& pair);
    /// Whether the same blocks of both kernels write to the same places. If both kernels have
    /// atomics, these blocks have to leave the same values, too.
    [[nodiscard]] bool doSameWork(const Trial& someBlocks);
    /// Whether both kernels have atomics. Without them each element is written by one block, so
    /// that another value in it is a mistake; with them all blocks may add to it.
    [[nodiscard]] bool addsFromAllBlocks() const;

    // review_telling.cpp
    /// The control on the outputs of the first trial and of the probes of its sizes.
    [[nodiscard]] CheckResult controlOfTrials() const;
    /// The control on these outputs, at their own scale.
    [[nodiscard]] CheckResult
    controlOf(const std::vector<std::vector<BufferContents>>& outputs) const;
    /// Keeps the probe for findTellingRun() if the control holds on its outputs, and as the launch
    /// for mixValues() if it is the largest so far.
    void keepTelling(const Trial& probe, const RunPair& pair);
    /// Whether the images are of the trial's instance: they are those of the last trial.
    [[nodiscard]] bool isOfBuiltInstance(const Trial& trial) const;
    /// Whether a wrong result might pass, or the runs do not reach what the edit changes.
    [[nodiscard]] bool showsLittle() const;
    /// Looks for runs that show more if showsLittle(): runs kept probes again, then mixValues().
    /// All runs are judged as probes are. False ends the review.
    bool findTellingRun();
    /// Runs a launch with mixed values until showsLittle() is false, or turns or time are over.
    bool mixValues();
    /// Runs `trial` on two inputs, and keeps their control if it holds.
    bool runTelling(const Trial& trial);

    /// Whether the errors of all trials and probes are those of rounding.
    bool keepsErrors();
    bool trySchedules();
    /// Whether no two threads race in the trial's launches, in either version: then every order of
    /// threads gives the same results. Adds a check that says so.
    [[nodiscard]] bool isRaceFreeAt(const Trial& trial);
    /// Whether the runs show what the edit does.
    bool showsEdit();
    bool control();
    /// Whether the measuring place judges the edit because the emulator cannot run it. Then the
    /// missing check is counted as passed and says that it was not done.
    bool leavesRunsToPlace();
    /// Lets the place compile the candidate beside the other checks.
    void prepareMeasurement();
    void measure();
    void takeMeasurement(Result<GpuMeasurement> measured);

    /// Makes all checks that need the emulator; false if one failed.
    bool checkByRuns();
    /// The steps on runs, of which the file's own size may need none.
    bool runOwnSize();

    [[nodiscard]] bool isProved() const { return verdict_.confidence == Confidence::Proved; }
    /// Whether the bits are proved equal. No input has to show that a mistake would be noticed.
    [[nodiscard]] bool isProvedExactly() const {
        return isProved() && closeness_.accuracy.numerics == skills::Numerics::Exact;
    }
    [[nodiscard]] KernelRef candidate() const { return {candidate_, *candidateKernel_}; }
    /// Both as they are built for runs.
    [[nodiscard]] KernelPair runnable() const {
        return evidence_ ? KernelPair{evidence_->original(), evidence_->candidate()}
                         : KernelPair{original_, candidate()};
    }

    /// Runs both images that are built now.
    [[nodiscard]] TrialRunner runner() const {
        return {executor_,
                {original_.file(), original_.kernel},
                {*candidate_.model, *candidateKernel_},
                images_,
                plan_.variables,
                closeness_.accuracy.numerics,
                stop_};
    }

    Executor& executor_;
    const analysis::Toolchain& toolchain_;
    KernelRef original_;
    skills::Accuracy accuracy_;
    Closeness closeness_;
    Closeness probeCloseness_; ///< The same, with scales and error of the first trial.
    const GpuSource& gpu_;
    MeasuringPlace* place_; ///< Null: the GPU.
    bool reviewsOthers_;
    bool reviewsHost_;
    bool measures_;
    bool probesLargeLaunches_;
    bool isSumOfReviewed_;
    std::mt19937_64 seeds_; ///< Gives one seed for each input.
    std::stop_token stop_;
    const ProgressSink& progress_;

    analysis::EditSet edits_;
    ProgramSource candidate_;
    const analysis::KernelModel* candidateKernel_ = nullptr;
    std::vector<LessSynchronisation> removed_;
    TrialPlan plan_;
    ReviewImages images_;
    std::optional<EditEvidence> evidence_; ///< Only if the edit is not proved.
    bool isRaceFree_ = false;              ///< Both are proved to have no race, for any launch.
    std::size_t runsDone_ = 0;
    std::size_t runsPlanned_ = 1;
    std::size_t probesDone_ = 0;
    std::size_t nearMisses_ = 0;
    ReviewErrors errors_;

    bool isSmallerProgram_ = false;
    bool isOnlyInPlace_ = false; ///< Nothing ran on the emulator, so the place alone judges.
    /// The constants with which the edit agreed in a smaller program; empty if none was tried.
    std::string smaller_;
    std::string smallerSummary_;

    /// The outputs of the first trial, which the control uses.
    std::vector<std::vector<BufferContents>> controlOutputs_;
    /// The outputs of the first probes whose outputs have the same sizes, which it uses as well.
    std::vector<std::vector<BufferContents>> probeOutputs_;
    Tolerance controlTolerance_;
    std::vector<Trial> telling_;          ///< The first probes whose results show something.
    std::optional<Trial> toMix_;          ///< The probe whose launch mixValues() takes.
    std::optional<Check> tellingControl_; ///< The control that holds on a run of runTelling().
    bool hasRandomInput_ = false;
    bool readsRandomInput_ = false;
    /// Whether the edit changes the order of the host's requests to the GPU.
    bool changesOrder_ = false;
    ReplacedKernels replaced_;
    Verdict verdict_;
    std::optional<Error> trouble_;
    std::jthread preparing_; ///< Declared last, because it uses other members. Its end stops it.
};

} // namespace kernelskill::engine
