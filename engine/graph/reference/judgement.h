/// The judgement of a generated model: whether its library computes what LibTorch computes, and how
/// long both take.
#pragma once

#include "engine/graph/reference/tolerance.h"
#include "engine/graph/reference/torch_subject.h"
#include "engine/graph/reference/torch_timing.h"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine::graph {

/// How the elements of the user's inputs are drawn. What an operator can take bounds all of them
/// (seeded_tensors.h): indices stay indices, and what a logarithm reads is not negative.
enum class Distribution : std::uint8_t {
    Normal,
    Uniform,        ///< In [-1, 1).
    OneSign,        ///< In [0, 1) or (-1, 0].
    LargeMagnitude, ///< Normal, times 1000; times 30 in float16.
    WithZeros,      ///< Normal; every other element, at random, is zero.
    Denormals,      ///< Normal; every other element, at random, is below the least normal number.
};

[[nodiscard]] std::string_view nameOf(Distribution distribution);

/// Asks for a judgement.
struct TorchJudgeRequest {
    /// `inputs` and `precision` are not looked at. `seed` is the first of the seeds. `allowsTf32`
    /// holds for library nodes and for the eager program that is timed, never for the reference.
    TorchSubject subject;
    std::filesystem::path library; ///< Absolute: a libmodel.so with the C interface of models.
    /// Seeds for each distribution. The program is run on six times as many inputs.
    std::uint32_t seeds = 5;
    /// No trial begins after so long, except for those that use each distribution once.
    std::chrono::milliseconds longestGate{60'000};
    bool wantsTimes = true;
    std::uint32_t rounds = 100; ///< Timed rounds; fewer of more than 50 ms.
    std::chrono::milliseconds time{600'000};
};

/// Compares a candidate's results on one set of inputs with the reference's.
struct TrialResult {
    std::uint64_t seed = 0;
    Distribution distribution = Distribution::Normal;
    std::map<std::string, std::int64_t> symbols; ///< The dynamic extents.
    bool isOnDefaultStream = false;
    bool isFloat64 = true; ///< The reference; else float32, because float64 did not fit.
    /// The largest of |found - expected| / (1 + |expected|): within a tolerance if it is not
    /// greater. Infinite where one of both is not finite, or integers differ. For inputs of large
    /// magnitude, the 1 is the root of the outputs' mean square, if that is greater.
    double error = 0;
    /// The same of the eager program in the element types as written, without TF32; nullopt: it was
    /// not needed.
    std::optional<double> eagerError;
    bool isWithinLoose = false;
    bool isWithinTight = false;
    /// "output 0 at [3, 7]: 1.5 instead of 1.25", where the error is largest.
    std::string worst;

    [[nodiscard]] bool isWithin(Tolerance tolerance) const {
        return tolerance == Tolerance::Tight ? isWithinTight : isWithinLoose;
    }
};

struct JudgedTimes {
    TorchTiming candidate;               ///< Launched by forward().
    std::optional<TorchTiming> replayed; ///< From a CUDA graph that the judge captured.
    std::string whyNotReplayed;          ///< Empty if it was.
    TorchTiming eager;
    /// The wall's clock for a call of the candidate, of many behind each other.
    double wallMicroseconds = 0;
    std::uint32_t inputCopies = 1; ///< How many sets of inputs took turns.
};

struct Judgement {
    /// The offences of the candidate that no honest one commits, or why it could not be run:
    /// "changes its input x". A candidate with one is refused.
    std::vector<std::string> refusals;
    std::vector<TrialResult> trials;
    std::uint32_t plannedTrials = 0;       ///< More than there are if the time was up.
    std::vector<std::string> libraryNodes; ///< The nodes that it left to a library.
    /// Whether the reference's outputs are the same for usual inputs, up to a hundredth of their
    /// magnitude (the root of the mean square).
    bool isOutputConstant = false;
    std::string device; ///< "NVIDIA H100 80GB HBM3", "cpu".
    std::optional<JudgedTimes> times;

    [[nodiscard]] bool isRefused() const { return !refusals.empty() || trials.empty(); }
    [[nodiscard]] bool isWithinLoose() const;
    [[nodiscard]] bool isWithinTight() const;
};

[[nodiscard]] nlohmann::json toJson(const TorchJudgeRequest& request);
[[nodiscard]] nlohmann::json toJson(const Judgement& judgement);
/// These throw nlohmann's exceptions for malformed input.
[[nodiscard]] TorchJudgeRequest judgeRequestFrom(const nlohmann::json& json);
[[nodiscard]] Judgement judgementFrom(const nlohmann::json& json);

} // namespace kernelskill::engine::graph
