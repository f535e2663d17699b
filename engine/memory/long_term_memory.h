/// What skills have done so far, on all the user's kernels: outcomes per skill, bottleneck and
/// architecture, in one SQLite file of the user's data folder.
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

/// Outcomes of reviews that measured no time.
inline constexpr const char* emulatedArchitecture = "emulator";

/// One reviewed edit. Only a Reviewer's verdict is one: what a model estimates is no outcome.
struct Outcome {
    std::string skill;
    std::string bottleneck;   ///< Spelling of BottleneckKind, as diagnosed before the edit.
    std::string architecture; ///< "sm_90"; emulatedArchitecture when no time was measured.
    std::uint64_t kernelHash = 0;
    VerdictStatus status = VerdictStatus::Unmeasured;
    std::optional<double> speedup; ///< Only from a measurement.
    std::string failure = {};      ///< The check that failed, of an incorrect or invalid edit.
    std::string time = {};         ///< As timestamp() spells it; empty: now.
    bool operator==(const Outcome&) const = default;
};

/// `architecture` is that of the GPU that measures, if the verdict says that one did.
[[nodiscard]] Outcome outcomeOf(const Verdict& verdict, std::string skill, std::string bottleneck,
                                std::uint64_t kernelHash, std::string architecture);

/// The record of one skill on one bottleneck. Of each kernel the last outcome counts, because
/// trying the same thing again is no new knowledge; but one that measured no time hides none that
/// did.
struct SkillRecord {
    std::string skill;
    int kernels = 0;  ///< Different kernels it was tried on.
    int failed = 0;   ///< Of them, those on which its edit was incorrect or invalid.
    int measured = 0; ///< Of them, those on which its edit was correct and its time was measured.
    int faster = 0;   ///< Of the measured ones.
    std::optional<double> meanSpeedup; ///< Geometric mean over the measured ones.
    /// Sum over kernels: of a faster edit the binary logarithm of its speedup, 1 at most; of a
    /// failed or measured other one 0.
    double worth = 0;
    std::string lastFailure; ///< Of Outcome::failure.

    /// Kernels that say something about what the skill is worth.
    [[nodiscard]] int judged() const { return failed + measured; }
};

/// Thread-safe. Several processes may use one file.
class LongTermMemory {
public:
    /// Opens or creates `file` and brings an older schema up to date. InvalidInput when it is not
    /// such a file or was written by a later version: it is then left alone.
    [[nodiscard]] static Result<LongTermMemory> open(const std::filesystem::path& file);
    LongTermMemory(LongTermMemory&&) noexcept;
    LongTermMemory& operator=(LongTermMemory&&) noexcept;
    ~LongTermMemory();

    /// InvalidInput for an outcome with a speedup that nobody measured, or a measured one without.
    Result<void> record(const Outcome& outcome);
    /// Those that are not there yet, all or none. Returns how many were new.
    Result<std::size_t> merge(const std::vector<Outcome>& outcomes);
    /// All, oldest first.
    [[nodiscard]] Result<std::vector<Outcome>> outcomes() const;
    /// Records of every skill tried on `bottleneck`: on `architecture`, and where no time was
    /// measured; on all when `architecture` is empty. What another process has just recorded may be
    /// missing for half a second.
    [[nodiscard]] Result<std::vector<SkillRecord>> records(const std::string& bottleneck,
                                                           const std::string& architecture) const;

private:
    struct Impl;
    explicit LongTermMemory(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// Where a user's long-term memory lies: in `configured` if it names a folder, else in the user's
/// data folder; empty where there is none.
[[nodiscard]] std::filesystem::path longTermMemoryFile(const std::filesystem::path& configured);

} // namespace kernelskill::engine
