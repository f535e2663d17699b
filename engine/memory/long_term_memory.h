/// What skills have done so far, on all the user's kernels: outcomes per skill, bottleneck and
/// architecture, in one SQLite file of the user's data folder.
#pragma once

#include "analysis/source/error.h"
#include "engine/agents/verdict.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// One reviewed edit.
struct Outcome {
    std::string skill;
    std::string bottleneck;   ///< Spelling of BottleneckKind, as diagnosed before the edit.
    std::string architecture; ///< "sm_90"; "emulator" when nothing was measured.
    std::uint64_t kernelHash = 0;
    VerdictStatus status = VerdictStatus::Unmeasured;
    std::optional<double> speedup; ///< Only from a measurement.
};

/// The record of one skill on one bottleneck.
struct SkillRecord {
    std::string skill;
    int kernels = 0;  ///< Different kernels it was tried on.
    int accepted = 0; ///< Of them, those whose last verdict was neither incorrect nor invalid.
    std::optional<double> meanSpeedup; ///< Geometric mean over the measured ones.
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

    Result<void> record(const Outcome& outcome);
    /// Records of every skill tried on `bottleneck`, on all architectures when `architecture` is
    /// empty. What another process has just recorded may be missing for half a second.
    [[nodiscard]] Result<std::vector<SkillRecord>> records(const std::string& bottleneck,
                                                           const std::string& architecture) const;

private:
    struct Impl;
    explicit LongTermMemory(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace kernelskill::engine
