/// Runs the original and the candidate on the same input, each in float64 as well.
#pragma once

#include "engine/inputs/trial.h"
#include "engine/review/review_images.h"

#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <vector>

namespace kernelskill::engine {

/// One input: a trial's launch with one seed.
struct Comparand {
    const Trial* trial = nullptr;
    std::size_t trialNumber = 0; ///< 0 for the launch as the file has it.
    int seedNumber = 1;
    std::uint64_t seed = 0;
    Schedule schedule = {};

    /// Whether the verdict shows the counters of this run.
    [[nodiscard]] bool isFirst() const {
        return trialNumber == 0 && seedNumber == 1 && schedule == Schedule{};
    }
};

/// The results of one comparand's runs. If a run fails, the later ones are missing.
struct Runs {
    Result<RunResult> original;
    std::optional<Result<RunResult>> candidate;
    /// The outputs of the original in float64; nullopt for exact edits, an error if it did not run.
    std::optional<Result<std::vector<BufferContents>>> truth;
    /// The outputs of the candidate in float64; nullopt if it was not run: for a part of a launch,
    /// or in another order of threads.
    std::optional<std::vector<BufferContents>> wideCandidate = std::nullopt;
};

/// The results of both runs, if both ended normally.
struct RunPair {
    RunResult original;
    RunResult candidate;
    std::optional<Result<std::vector<BufferContents>>> truth;
    std::optional<std::vector<BufferContents>> wideCandidate = std::nullopt;

    /// Takes the results of `runs`, of which both ended normally.
    [[nodiscard]] static RunPair of(Runs runs);
};

/// Thread-safe. `images` holds an original and a candidate. `variables` are compared like buffers.
class TrialRunner {
public:
    TrialRunner(Executor& executor, KernelInFile original, KernelInFile candidate,
                const ReviewImages& images, std::vector<SymbolSpec> variables,
                skills::Numerics numerics, std::stop_token stop)
        : executor_(executor), original_(original), candidate_(candidate), images_(images),
          variables_(std::move(variables)), numerics_(numerics), stop_(std::move(stop)) {}

    [[nodiscard]] Runs run(const Comparand& comparand) const;
    /// Runs all comparands at once. The results have the order of `batch`.
    [[nodiscard]] std::vector<Runs> runAll(const std::vector<Comparand>& batch) const;
    /// Runs the comparands, several at once, and judges each in order, until `judge` is false. Then
    /// those that still run are stopped. Returns whether all were judged true.
    [[nodiscard]] bool judgeEach(const std::vector<Comparand>& comparands,
                                 const std::function<bool(const Comparand&, Runs)>& judge) const;

    /// The number of comparands to run at once on this machine.
    [[nodiscard]] static std::size_t runsAtOnce();

private:
    /// The outputs of both kernels in float64.
    struct WideRuns {
        Result<std::vector<BufferContents>> original;
        std::optional<std::vector<BufferContents>> candidate;
    };
    [[nodiscard]] std::future<Runs> begin(const Comparand& comparand) const;
    /// The outputs of `image`, which is `subject` in float64. `launch` is that of `subject` itself.
    [[nodiscard]] Result<std::vector<BufferContents>> wide(const Image& image, KernelInFile subject,
                                                           LaunchSpec launch,
                                                           const Comparand& comparand) const;
    [[nodiscard]] WideRuns runWide(const Comparand& comparand,
                                   const std::vector<BufferExtent>& extents) const;

    Executor& executor_;
    KernelInFile original_;
    KernelInFile candidate_;
    const ReviewImages& images_;
    std::vector<SymbolSpec> variables_;
    skills::Numerics numerics_;
    std::stop_token stop_;
};

} // namespace kernelskill::engine
