/// The outcomes of skills on all the user's kernels, by skill, bottleneck and architecture, and the
/// times of parts of PyTorch programs. They are in one SQLite file in the user's data folder.
#pragma once

#include "analysis/source/error.h"
#include "engine/verdict/verdict.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The architecture of reviews that measured no time.
inline constexpr const char* emulatedArchitecture = "emulator";

/// One reviewed edit. Only a Reviewer's verdict becomes an outcome; a model's estimate does not.
struct Outcome {
    std::string skill;
    std::string bottleneck;   ///< The spelling of BottleneckKind, diagnosed before the edit.
    std::string architecture; ///< "sm_90"; emulatedArchitecture if no time was measured.
    std::uint64_t kernelHash = 0;
    VerdictStatus status = VerdictStatus::Unmeasured;
    std::optional<double> speedup; ///< Only from a measurement.
    std::string failure = {};      ///< The failed check of an incorrect or invalid edit.
    std::string time = {};         ///< In the format of timestamp(); empty: now.
    bool operator==(const Outcome&) const = default;
};

/// `architecture` is that of the measuring GPU; it is used if the verdict is measured.
[[nodiscard]] Outcome outcomeOf(const Verdict& verdict, std::string skill, std::string bottleneck,
                                std::uint64_t kernelHash, std::string architecture);

/// The record of one skill on one bottleneck. Only the last outcome on each kernel counts, because
/// repeating a trial adds no knowledge. An outcome without a measured time never replaces a
/// measured one.
struct SkillRecord {
    std::string skill;
    int kernels = 0;  ///< Different kernels that it was tried on.
    int failed = 0;   ///< Kernels on which its edit was incorrect or invalid.
    int measured = 0; ///< Kernels on which its edit was correct and its time measured.
    int faster = 0;   ///< Measured kernels on which it was faster.
    std::optional<double> meanSpeedup; ///< The geometric mean over the measured kernels.
    /// The sum over kernels: the binary logarithm of the speedup, at most 1, for a faster edit; 0
    /// for a slower or failed one.
    double worth = 0;
    std::string lastFailure; ///< The last Outcome::failure.

    /// The number of kernels that count for the skill's worth.
    [[nodiscard]] int judged() const { return failed + measured; }
};

/// Thread-safe. Several processes may use one file.
class LongTermMemory {
public:
    /// Opens or creates `file` and upgrades an older schema. InvalidInput if it is another kind of
    /// file or was written by a later version; then it is not changed.
    [[nodiscard]] static Result<LongTermMemory> open(const std::filesystem::path& file);
    LongTermMemory(LongTermMemory&&) noexcept;
    LongTermMemory& operator=(LongTermMemory&&) noexcept;
    ~LongTermMemory();

    /// InvalidInput for a speedup without a measurement, or a measurement without a speedup.
    Result<void> record(const Outcome& outcome);
    /// Adds the outcomes that are not there yet, all or none. Returns how many were new.
    Result<std::size_t> merge(const std::vector<Outcome>& outcomes);
    /// All outcomes, oldest first.
    [[nodiscard]] Result<std::vector<Outcome>> outcomes() const;
    /// The records of every skill tried on `bottleneck`: those of `architecture` and those without
    /// a measured time. If `architecture` is empty, all of them. Outcomes that another process
    /// recorded in the last half second may be missing.
    [[nodiscard]] Result<std::vector<SkillRecord>> records(const std::string& bottleneck,
                                                           const std::string& architecture) const;

    /// Keeps what was measured of a part of a PyTorch program, in place of what was kept before.
    /// The key stands for all that times depend on.
    Result<void> keepTimes(const std::string& key, const std::string& times);
    /// nullopt if nothing was kept.
    [[nodiscard]] Result<std::optional<std::string>> times(const std::string& key) const;

private:
    struct Impl;
    explicit LongTermMemory(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// The file of the user's long-term memory: in `configured` if it names a folder, else in the
/// user's data folder. Empty if there is none.
[[nodiscard]] std::filesystem::path longTermMemoryFile(const std::filesystem::path& configured);

} // namespace kernelskill::engine
