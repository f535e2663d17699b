/// Runs the original, the candidate and the float64 reference on the same input.
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
    std::optional<Result<std::vector<BufferContents>>> truth; ///< nullopt for exact edits.
};

/// The results of both runs, if both ended normally.
struct RunPair {
    RunResult original;
    RunResult candidate;
    std::optional<Result<std::vector<BufferContents>>> truth;
};

/// Thread-safe. `images` holds an original and a candidate. `variables` are compared like buffers.
class TrialRunner {
public:
    TrialRunner(Executor& executor, KernelInFile original, const ReviewImages& images,
                std::vector<SymbolSpec> variables, skills::Numerics numerics, std::stop_token stop)
        : executor_(executor), original_(original), images_(images),
          variables_(std::move(variables)), numerics_(numerics), stop_(std::move(stop)) {}

    [[nodiscard]] Runs run(const Comparand& comparand) const;
    /// Runs all comparands at once. The results have the order of `batch`.
    [[nodiscard]] std::vector<Runs> runAll(const std::vector<Comparand>& batch) const;

    /// The number of comparands to run at once on this machine.
    [[nodiscard]] static std::size_t runsAtOnce();

private:
    [[nodiscard]] Result<std::vector<BufferContents>> truth(const Comparand& comparand,
                                                            const RunResult& original) const;

    Executor& executor_;
    KernelInFile original_;
    const ReviewImages& images_;
    std::vector<SymbolSpec> variables_;
    skills::Numerics numerics_;
    std::stop_token stop_;
};

} // namespace kernelskill::engine
