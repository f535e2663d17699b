/// Runs of the original, the candidate and the float64 reference on one and the same input.
#pragma once

#include "engine/inputs/trial.h"
#include "engine/review/review_images.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace kernelskill::engine {

/// One input: a trial's launch with one seed.
struct Comparand {
    const Trial* trial = nullptr;
    std::size_t trialNumber = 0; ///< 0 for the launch as the file has it.
    int seedNumber = 1;
    std::uint64_t seed = 0;

    /// The one whose counters a verdict shows.
    [[nodiscard]] bool isFirst() const { return trialNumber == 0 && seedNumber == 1; }
};

/// What the runs of one comparand left. The later ones are missing where an earlier one failed.
struct Runs {
    Result<RunResult> original;
    std::optional<Result<RunResult>> candidate;
    std::optional<Result<std::vector<BufferContents>>> truth; ///< Missing for exact edits.
};

/// What both runs left when both came to their end.
struct RunPair {
    RunResult original;
    RunResult candidate;
    std::optional<Result<std::vector<BufferContents>>> truth;
};

/// Thread-safe. `images` holds an original and a candidate.
class TrialRunner {
public:
    TrialRunner(Executor& executor, const analysis::KernelModel& kernel, const ReviewImages& images,
                skills::Numerics numerics, std::stop_token stop)
        : executor_(executor), kernel_(kernel), images_(images), numerics_(numerics),
          stop_(std::move(stop)) {}

    [[nodiscard]] Runs run(const Comparand& comparand) const;
    /// All at once; the results in the order of `batch`.
    [[nodiscard]] std::vector<Runs> runAll(const std::vector<Comparand>& batch) const;

    /// How many comparands to run at once on this machine.
    [[nodiscard]] static std::size_t runsAtOnce();

private:
    [[nodiscard]] Result<std::vector<BufferContents>> truth(const Comparand& comparand,
                                                            const RunResult& original) const;

    Executor& executor_;
    const analysis::KernelModel& kernel_;
    const ReviewImages& images_;
    skills::Numerics numerics_;
    std::stop_token stop_;
};

} // namespace kernelskill::engine
