#include "engine/agents/reviewer.h"

#include "engine/agents/float64_reference.h"
#include "engine/agents/hazard_comparison.h"
#include "engine/agents/output_comparison.h"
#include "engine/agents/trial.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <future>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>

namespace kernelskill::engine {
namespace {

using ImagePointer = std::shared_ptr<const Image>;

/// A candidate may take this many times as long as the original before it counts as one that never
/// ends.
constexpr int slowdownAllowed = 20;
constexpr std::chrono::milliseconds shortestLimit{3000};
/// Rounding of the candidate against that of the original, both against float64: a reordered sum
/// has another error, not one of another magnitude.
constexpr double errorGrowthAllowed = 4;
/// Below so many units of rounding no error is held against a candidate, however exact the original
/// was.
constexpr double roundoffsAllowed = 16;
/// An original further than this from float64 does not compute what the reference computes (a
/// decision in it went the other way), and the reference is of no use.
constexpr double meaningfulReference = 1e-2;
constexpr double reducedPrecisionError = 5e-3;
/// Each run is a process with one busy thread and buffers of its own.
constexpr std::size_t mostRunsAtOnce = 4;

Result<std::string> contentOf(const ProgramSource& program, const std::string& file) {
    if (file == program.file)
        return program.text;
    if (auto open = program.unsaved.find(file); open != program.unsaved.end())
        return open->second;
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        return std::unexpected(
            Error{ErrorKind::InvalidInput, "an edited file cannot be read", file, ""});
    return std::string(std::istreambuf_iterator<char>(stream), {});
}

Result<ProgramSource> edited(const ProgramSource& original, const analysis::EditSet& edits) {
    ProgramSource candidate = original;
    for (const auto& [file, changes] : edits) {
        auto before = contentOf(original, file);
        if (!before)
            return std::unexpected(before.error());
        auto after = analysis::applyEdits(*before, changes);
        if (!after)
            return std::unexpected(after.error());
        if (file == original.file)
            candidate.text = std::move(*after);
        else
            candidate.unsaved[file] = std::move(*after);
    }
    return candidate;
}

std::multiset<std::string> errorsOf(const analysis::FileModel& model) {
    std::multiset<std::string> errors;
    for (const analysis::Diagnostic& diagnostic : model.diagnostics) {
        bool isError = diagnostic.severity == analysis::Severity::Error &&
                       diagnostic.origin == analysis::DiagnosticOrigin::Compiler;
        if (isError)
            errors.insert(diagnostic.message);
    }
    return errors;
}

/// Whether the order in which threads run shows in the result: then even an exact rewrite may round
/// differently.
bool hasFloatingAtomics(const analysis::KernelModel& kernel) {
    return std::ranges::any_of(kernel.atomics, [&](const analysis::Atomic& atomic) {
        if (atomic.access >= kernel.accesses.size())
            return false;
        auto base = kernel.accesses[atomic.access].base;
        return base != analysis::noId && isFloating(kernel.body.variable(base).type.scalar);
    });
}

/// The images of one instance of the kernel.
struct Images {
    ImagePointer original;
    ImagePointer candidate;
    ImagePointer reference; ///< In float64; null when there is none.
};

/// One run of each image, on the same input.
struct Comparand {
    const Trial* trial = nullptr;
    std::size_t trialNumber = 0;
    int seedNumber = 1;
    std::uint64_t seed = 0;
};

/// What the runs of one comparand left. The later ones are missing where the original failed.
struct Runs {
    Result<RunResult> original;
    std::optional<Result<RunResult>> candidate;
    std::optional<Result<std::vector<BufferContents>>> truth; ///< Missing for exact edits.
};

/// What both runs of one trial on one seed left.
struct Pair {
    RunResult original;
    RunResult candidate;
    std::optional<Result<std::vector<BufferContents>>> truth;
};

/// One review, step by step. Each step appends its checks; a failed one ends the review.
class Review {
public:
    Review(Executor& executor, const analysis::Toolchain& toolchain, const ProgramSource& original,
           const analysis::KernelModel& kernel, skills::Numerics numerics, std::stop_token stop,
           const ProgressSink& progress)
        : executor_(executor), toolchain_(toolchain), original_(original), kernel_(kernel),
          numerics_(numerics), stop_(std::move(stop)), progress_(progress) {
        if (numerics_ == skills::Numerics::Exact && hasFloatingAtomics(kernel)) {
            numerics_ = skills::Numerics::Reassociates;
            orderNote_ = "; floating-point atomics take effect in no fixed order";
        }
    }

    Result<Verdict> run(const analysis::EditSet& edits) {
        if (!parseCandidate(edits) || !planRuns() || !build() || !runTrials())
            return finished();
        if (!checkControl())
            return finished();
        verdict_.status = VerdictStatus::Unmeasured;
        verdict_.summary = summaryOfSuccess();
        return finished();
    }

private:
    Result<Verdict> finished() {
        if (stop_.stop_requested())
            return std::unexpected(Error{ErrorKind::Cancelled, "the review was cancelled", "", ""});
        if (trouble_)
            return std::unexpected(*trouble_);
        return std::move(verdict_);
    }

    void report(std::string_view what, double fraction) const {
        if (progress_)
            progress_(what, fraction);
    }

    bool pass(std::string name, std::string detail = {}) {
        verdict_.checks.push_back({std::move(name), true, std::move(detail)});
        return true;
    }
    bool fail(VerdictStatus status, std::string name, std::string detail) {
        verdict_.status = status;
        verdict_.summary =
            fmt::format("{}: check \"{}\" failed: {}", spelling(status), name, detail);
        verdict_.checks.push_back({std::move(name), false, std::move(detail)});
        return false;
    }
    /// The edit is not to blame.
    bool giveUp(std::string name, const Error& error) {
        verdict_.isAboutEdit = false;
        return fail(VerdictStatus::Invalid, std::move(name), error.describe());
    }

    bool parseCandidate(const analysis::EditSet& edits);
    bool planRuns();
    bool build();
    void buildReference();
    bool runTrials();
    bool buildOther(const Trial& trial);
    /// Runs several comparands at once, then judges them in their order.
    bool runBatch(const std::vector<Comparand>& batch);
    /// Const, for it runs beside others of its kind.
    [[nodiscard]] Runs runOne(const Comparand& comparand) const;
    bool judge(const Comparand& comparand, Runs runs);
    bool compare(const std::string& name, std::uint64_t seed, const Pair& pair);
    bool compareHazards(const std::string& name, const Pair& pair);
    bool checkControl();
    [[nodiscard]] Result<std::vector<BufferContents>> reference(const Comparand& comparand,
                                                                const RunResult& original) const;
    [[nodiscard]] Tolerance toleranceWithoutReference(const Pair& pair) const;
    [[nodiscard]] std::string summaryOfSuccess() const;

    Executor& executor_;
    const analysis::Toolchain& toolchain_;
    const ProgramSource& original_;
    const analysis::KernelModel& kernel_;
    skills::Numerics numerics_;
    std::stop_token stop_;
    const ProgressSink& progress_;

    ProgramSource candidate_;
    const analysis::KernelModel* candidateKernel_ = nullptr;
    TrialPlan plan_;
    Images images_;
    ProgramSource referenceProgram_;
    std::string referenceNote_; ///< Why there is no float64 reference.
    std::string orderNote_;
    std::size_t runsDone_ = 0;
    std::size_t runsPlanned_ = 1;

    /// Of the first trial: what the control is tried on.
    std::vector<std::vector<BufferContents>> controlOutputs_;
    Tolerance controlTolerance_;
    bool readsRandomInput_ = false;
    Verdict verdict_;
    std::optional<Error> trouble_;
};

bool Review::parseCandidate(const analysis::EditSet& edits) {
    report("parsing the edited file", 0);
    if (edits.empty())
        return fail(VerdictStatus::Invalid, "changes something", "the edit is empty");
    auto candidate = edited(original_, edits);
    if (!candidate)
        return fail(VerdictStatus::Invalid, "applies", candidate.error().describe());
    candidate_ = std::move(*candidate);
    auto model = analysis::analyzeFile(candidate_.file, candidate_.text, candidate_.command,
                                       toolchain_, candidate_.unsaved);
    if (!model) {
        trouble_ = model.error();
        return false;
    }
    candidate_.model = std::make_shared<const analysis::FileModel>(std::move(*model));
    auto known = errorsOf(*original_.model);
    for (const std::string& message : errorsOf(*candidate_.model)) {
        if (auto same = known.find(message); same != known.end())
            known.erase(same);
        else
            return fail(VerdictStatus::Invalid, "parses", message);
    }
    candidateKernel_ = analysis::kernelNamed(*candidate_.model, kernel_.qualifiedName);
    if (candidateKernel_ == nullptr)
        return fail(VerdictStatus::Invalid, "parses",
                    "the edit leaves no kernel " + kernel_.qualifiedName);
    return pass("parses");
}

bool Review::planRuns() {
    auto plan = planTrials({*original_.model, kernel_}, {*candidate_.model, *candidateKernel_});
    if (!plan)
        return giveUp("can be launched", plan.error());
    plan_ = std::move(*plan);
    runsPlanned_ = 0;
    for (const Trial& trial : plan_.trials)
        runsPlanned_ += static_cast<std::size_t>(trial.seeds);
    return true;
}

bool Review::build() {
    report("compiling the original and the edit", 0.1);
    const Trial& first = plan_.trials.front();
    auto ahead = std::async(std::launch::async, [&] {
        return executor_.build(candidate_, *candidateKernel_, first.candidate, stop_);
    });
    // The reference's launch, when numbers may change, is derived from the same trial.
    auto beside = std::async(std::launch::async, [&] {
        if (numerics_ != skills::Numerics::Exact)
            buildReference();
    });
    auto original = executor_.build(original_, kernel_, first.original, stop_);
    auto candidate = ahead.get();
    beside.get();
    if (stop_.stop_requested())
        return false;
    if (!original)
        return giveUp("the original compiles", original.error());
    if (!candidate)
        return fail(VerdictStatus::Invalid, "compiles", candidate.error().describe());
    images_.original = std::move(*original);
    images_.candidate = std::move(*candidate);
    return pass("compiles");
}

void Review::buildReference() {
    auto program = doublePrecisionProgram(original_, kernel_, toolchain_);
    if (!program) {
        referenceNote_ = program.error().what;
        return;
    }
    referenceProgram_ = std::move(*program);
    auto launch = withDoubleArguments(kernel_, plan_.trials.front().original);
    if (!launch) {
        referenceNote_ = launch.error().what;
        return;
    }
    const auto* kernel = analysis::kernelNamed(*referenceProgram_.model, kernel_.qualifiedName);
    auto image = executor_.build(referenceProgram_, *kernel, *launch, stop_);
    if (image)
        images_.reference = std::move(*image);
    else
        referenceNote_ = "its double-precision form does not compile";
}

bool Review::runTrials() {
    std::random_device entropy;
    const std::size_t runsAtOnce =
        std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, mostRunsAtOnce);
    std::vector<Comparand> batch;
    auto runTheBatch = [&] { return batch.empty() || runBatch(std::exchange(batch, {})); };
    for (std::size_t number = 0; number < plan_.trials.size(); ++number) {
        const Trial& trial = plan_.trials[number];
        bool isOtherKernel =
            trial.original.templateArguments != plan_.trials.front().original.templateArguments;
        if (isOtherKernel) {
            if (!runTheBatch() || !buildOther(trial))
                return false;
            if (!images_.original)
                continue;
        }
        for (int seed = 1; seed <= trial.seeds; ++seed) {
            std::uint64_t value = (std::uint64_t{entropy()} << 32) | entropy();
            batch.push_back({&trial, number, seed, value});
            if (batch.size() == runsAtOnce && !runTheBatch())
                return false;
        }
    }
    if (!runTheBatch())
        return false;
    if (runsDone_ == 0)
        return giveUp("the original runs",
                      Error{ErrorKind::Failed, "no launch of the original ran", "", ""});
    return true;
}

/// Leaves no image of the original where this trial is to be left out.
bool Review::buildOther(const Trial& trial) {
    images_ = {};
    auto original = executor_.build(original_, kernel_, trial.original, stop_);
    auto candidate = executor_.build(candidate_, *candidateKernel_, trial.candidate, stop_);
    if (!original) {
        plan_.notes.push_back(trial.label + " was left out: " + original.error().what);
        return true;
    }
    if (!candidate)
        return fail(VerdictStatus::Invalid, "compiles, " + trial.label,
                    candidate.error().describe());
    images_.original = std::move(*original);
    images_.candidate = std::move(*candidate);
    referenceNote_ = "the launch has other template arguments";
    return true;
}

bool Review::runBatch(const std::vector<Comparand>& batch) {
    const Comparand& first = batch.front();
    report(fmt::format("running seed {} of {}, {}", first.seedNumber, first.trial->seeds,
                       first.trial->label),
           0.2 + 0.75 * static_cast<double>(runsDone_) / static_cast<double>(runsPlanned_));
    std::vector<std::future<Runs>> running;
    for (const Comparand& comparand : batch)
        running.push_back(
            std::async(std::launch::async, [this, &comparand] { return runOne(comparand); }));
    bool isGood = true;
    for (std::size_t index = 0; index < batch.size(); ++index) {
        Runs runs = running[index].get();
        isGood = isGood && !stop_.stop_requested() && judge(batch[index], std::move(runs));
    }
    return isGood;
}

Runs Review::runOne(const Comparand& comparand) const {
    const Trial& trial = *comparand.trial;
    Job job;
    job.launch = trial.original;
    job.seed = comparand.seed;
    job.wantOutputs = true;
    job.wantProfile = comparand.trialNumber == 0 && comparand.seedNumber == 1;
    auto begin = std::chrono::steady_clock::now();
    Runs runs{executor_.run(*images_.original, job, stop_), {}, {}};
    auto taken = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin);
    if (!runs.original || stop_.stop_requested())
        return runs;
    job.launch = withExtents(trial.candidate, runs.original->profile.extents);
    job.limits.time = std::min(job.limits.time, std::max(shortestLimit, taken * slowdownAllowed));
    runs.candidate = executor_.run(*images_.candidate, job, stop_);
    if (*runs.candidate && numerics_ != skills::Numerics::Exact && !stop_.stop_requested())
        runs.truth = reference(comparand, *runs.original);
    return runs;
}

bool Review::judge(const Comparand& comparand, Runs runs) {
    const Trial& trial = *comparand.trial;
    if (!runs.original) {
        if (comparand.trialNumber == 0)
            return giveUp("the original runs", runs.original.error());
        // An odd size that the original does not bear says nothing about the edit.
        plan_.notes.push_back(trial.label + " was left out: the original fails on it");
        return true;
    }
    if (!runs.candidate || !*runs.candidate)
        return fail(VerdictStatus::Invalid, "runs, " + trial.label,
                    runs.candidate ? runs.candidate->error().describe() : "it was not started");
    Pair pair{std::move(*runs.original), std::move(**runs.candidate), std::move(runs.truth)};
    if (comparand.trialNumber == 0 && comparand.seedNumber == 1) {
        verdict_.before = pair.original.profile.metrics;
        verdict_.after = pair.candidate.profile.metrics;
    }
    std::string name =
        fmt::format("matches original, seed {}, {}", comparand.seedNumber, trial.label);
    // A hazard is the cause where a difference is only what it does: it is named first.
    if (!compareHazards("no new hazard, " + trial.label, pair) ||
        !compare(name, comparand.seed, pair))
        return false;
    if (comparand.trialNumber == 0)
        controlOutputs_.push_back(std::move(pair.original.outputs));
    ++runsDone_;
    return true;
}

Result<std::vector<BufferContents>> Review::reference(const Comparand& comparand,
                                                      const RunResult& original) const {
    if (!images_.reference)
        return std::unexpected(Error{ErrorKind::Unsupported, referenceNote_, "", ""});
    auto launch = withDoubleArguments(
        kernel_, withExtents(comparand.trial->original, original.profile.extents));
    if (!launch)
        return std::unexpected(launch.error());
    Job job;
    job.launch = std::move(*launch);
    job.seed = comparand.seed;
    job.wantOutputs = true;
    job.wantHazards = false;
    auto result = executor_.run(*images_.reference, job, stop_);
    if (!result)
        return std::unexpected(
            Error{ErrorKind::Failed, "its double-precision form does not run", "", ""});
    return std::move(result->outputs);
}

Tolerance Review::toleranceWithoutReference(const Pair& pair) const {
    std::uint64_t terms = 1;
    for (const BufferExtent& extent : pair.original.profile.extents)
        terms = std::max(terms, extent.read ? extent.elements : 0);
    double roundoff = unitRoundoff(analysis::ScalarKind::Float);
    for (const BufferContents& output : pair.original.outputs) {
        if (isFloating(output.element))
            roundoff = std::max(roundoff, unitRoundoff(output.element));
    }
    if (numerics_ == skills::Numerics::ReducedPrecision)
        return {false, reducedPrecisionError};
    // The error of a sum of n terms grows as the square root of n (Higham, Accuracy and
    // Stability, 2.6).
    return {false, roundoff * (roundoffsAllowed +
                               errorGrowthAllowed * std::sqrt(static_cast<double>(terms)))};
}

bool Review::compare(const std::string& name, std::uint64_t seed, const Pair& pair) {
    if (pair.original.outputs.empty())
        return giveUp(
            "writes something",
            Error{ErrorKind::Unsupported, "the kernel has no output buffer to compare", "", ""});
    auto conclude = [&](const Comparison& result, const std::string& against) {
        std::string detail =
            fmt::format("{}; compared with {}; seed {:#x}", result.detail, against, seed);
        if (result.agrees)
            return pass(name, std::move(detail));
        const auto& hazards = pair.original.profile.hazards;
        const auto race = std::ranges::find(hazards, HazardKind::Race, &Hazard::kind);
        if (race != hazards.end())
            return giveUp("the original always does the same",
                          Error{ErrorKind::Unsupported,
                                fmt::format("the original has a {}, so what it computes depends on "
                                            "the order of its threads and proves nothing; here {}",
                                            describe(*race), detail),
                                "", ""});
        return fail(VerdictStatus::Incorrect, name, std::move(detail));
    };
    if (numerics_ == skills::Numerics::Exact) {
        controlTolerance_ = {};
        return conclude(compareOutputs(pair.original.outputs, pair.candidate.outputs, {}),
                        "the original, bit by bit");
    }
    const auto& truth = *pair.truth;
    std::string note = truth ? "" : truth.error().what;
    if (truth) {
        Comparison own =
            compareOutputs(*truth, pair.original.outputs, {false, meaningfulReference});
        double roundoff = 0;
        for (const BufferContents& output : pair.original.outputs)
            roundoff = std::max(roundoff, unitRoundoff(output.element));
        if (own.agrees) {
            Tolerance tolerance{false, std::max(errorGrowthAllowed * own.largestError,
                                                roundoffsAllowed * roundoff)};
            if (numerics_ == skills::Numerics::ReducedPrecision)
                tolerance.scaledError = std::max(tolerance.scaledError, reducedPrecisionError);
            controlTolerance_ = tolerance;
            return conclude(
                compareOutputs(*truth, pair.candidate.outputs, tolerance),
                fmt::format("a float64 reference from which the original is {:.3g} away{}",
                            own.largestError, orderNote_));
        }
        note = "the original itself differs from it: " + own.detail;
    }
    Tolerance tolerance = toleranceWithoutReference(pair);
    controlTolerance_ = tolerance;
    return conclude(
        compareOutputs(pair.original.outputs, pair.candidate.outputs, tolerance),
        fmt::format("the original, for want of a float64 reference ({}){}", note, orderNote_));
}

bool Review::compareHazards(const std::string& name, const Pair& pair) {
    auto found = newHazards(pair.original.profile.hazards, pair.candidate.profile.hazards);
    if (!found.empty())
        return fail(VerdictStatus::Incorrect, name, describe(found.front()));
    bool isSaid = std::ranges::find(verdict_.checks, name, &Check::name) != verdict_.checks.end();
    if (!isSaid)
        pass(name, pair.original.profile.hazards.empty()
                       ? "none in either"
                       : fmt::format("the original has {} of its own",
                                     pair.original.profile.hazards.size()));
    for (const ArgumentSpec& argument : pair.original.profile.launch.arguments) {
        const auto* buffer = std::get_if<BufferSpec>(&argument);
        readsRandomInput_ |= buffer != nullptr && buffer->isInput && buffer->fill == Fill::Random;
    }
    return true;
}

bool Review::checkControl() {
    report("checking that a wrong result would be seen", 0.97);
    const auto& real = controlOutputs_.front();
    std::vector<std::string> seen;
    auto mustDiffer = [&](const std::vector<BufferContents>& wrong, const char* what) {
        if (!compareOutputs(real, wrong, controlTolerance_).agrees) {
            seen.push_back(what);
            return true;
        }
        verdict_.isAboutEdit = false;
        return fail(
            VerdictStatus::Invalid, "control fails",
            fmt::format("{} cannot be told from the kernel's result on these inputs, so agreement "
                        "shows nothing; pin inputs with a `// kernelskill: launch` comment",
                        what));
    };
    if (!readsRandomInput_) {
        // Without random inputs the result is one and the same each time; only its absence can be
        // told apart.
        return pass("control fails", "not applicable: the kernel reads no random input");
    }
    if (!mustDiffer(zeroed(real), "a result of zeros"))
        return false;
    // One element, such as the sum of everything, is a constant however it came about.
    const bool hasSeveral = std::ranges::any_of(real, [](const BufferContents& buffer) {
        return buffer.bytes.size() > buffer.elementBytes;
    });
    if (hasSeveral && !mustDiffer(constantFilled(real), "a constant result"))
        return false;
    if (controlOutputs_.size() > 1 && !mustDiffer(controlOutputs_[1], "the result of another seed"))
        return false;
    std::string list;
    for (const std::string& what : seen)
        list += (list.empty() ? "" : ", ") + what;
    return pass("control fails", "flagged as different: " + list);
}

std::string Review::summaryOfSuccess() const {
    struct Counter {
        const char* label;
        std::vector<const char*> metrics;
    };
    static const std::vector<Counter> counters{
        {"global requests",
         {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
          "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"}},
        {"global sectors",
         {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
          "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"}},
        {"shared-memory wavefronts",
         {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
          "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"}},
        {"barriers", {"kernelskill__barriers.sum"}},
    };
    std::string changes;
    for (const Counter& counter : counters) {
        auto total = [&](const Metrics& metrics) {
            double sum = 0;
            for (const char* name : counter.metrics) {
                auto found = metrics.find(name);
                sum += found == metrics.end() ? 0 : found->second;
            }
            return sum;
        };
        double before = total(verdict_.before);
        double after = total(verdict_.after);
        if (std::abs(after - before) > 0.01 * std::max(before, after))
            changes += fmt::format("{}{} {:.0f} -> {:.0f}", changes.empty() ? "; " : ", ",
                                   counter.label, before, after);
    }
    std::string notes;
    for (const std::string& note : plan_.notes)
        notes += "; " + note;
    return fmt::format(
        "Matches the original on {} fresh inputs of {} size{}{}{}. No GPU: its time is not known.",
        runsDone_, plan_.trials.size(), plan_.trials.size() == 1 ? "" : "s", changes, notes);
}

} // namespace

Reviewer::Reviewer(Executor* executor, const analysis::Toolchain& toolchain)
    : executor_(executor), toolchain_(toolchain) {}

Result<Verdict> Reviewer::review(const ProgramSource& original, const analysis::KernelModel& kernel,
                                 const analysis::EditSet& edits, skills::Numerics numerics,
                                 std::stop_token stop, const ProgressSink& progress) const {
    if (executor_ == nullptr) {
        Verdict verdict;
        verdict.isAboutEdit = false;
        verdict.summary =
            "invalid: there is no host compiler to run kernels with, so nothing was checked";
        verdict.checks.push_back({"can be run", false, "no executor"});
        return verdict;
    }
    Review review(*executor_, toolchain_, original, kernel, numerics, std::move(stop), progress);
    return review.run(edits);
}

} // namespace kernelskill::engine
