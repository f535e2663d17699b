/// What has been tried on a file: append-only, one JSON object a line, under
/// `.kernelskill/memory/`.
#pragma once

#include "analysis/source/error.h"
#include "engine/verdict/candidate_diagnosis.h"
#include "engine/verdict/verdict.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

enum class EntryKind : std::uint8_t { Plan, Edit, Verdict, Failure };

struct MemoryEntry {
    EntryKind kind = EntryKind::Plan;
    std::string time; ///< UTC, ISO 8601.
    std::string kernel;
    std::uint64_t kernelHash =
        0; ///< KernelModel::normalisedHash: survives edits elsewhere, renames, moves.
    std::string skill;
    int option = 0;       ///< Offer::option
    std::string editHash; ///< Of the edits, hex; empty for plans.
    std::string status;   ///< Verdict spelling; empty for plans.
    std::string detail;   ///< Why; the failing check.
    /// Of a verdict: the hash of the kernel that the edit makes; 0: not noted.
    std::uint64_t resultHash = 0;
    std::string architecture;      ///< That it was judged for, "sm_90"; empty: not noted.
    std::optional<double> speedup; ///< Of a measured verdict.
    std::optional<bool> isKept;    ///< What an optimisation decided; nullopt: none asked.
    std::optional<CandidateDiagnosis> diagnosis; ///< Why it was not kept, where that is known.
};

/// Entries of one file. Reading skips a line cut short by a crash and says so; appending repairs it
/// first. Several processes may append to one file: each append holds its lock.
class ShortTermMemory {
public:
    /// `workspaceRoot` holds `.kernelskill/`; `file` lies inside it (else its folder is the root).
    ShortTermMemory(const std::filesystem::path& workspaceRoot, const std::filesystem::path& file);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// Writes one line with one write and syncs it. Failed when the workspace is read-only; nothing
    /// else is lost.
    Result<void> append(const MemoryEntry& entry) const;
    struct Contents {
        std::vector<MemoryEntry> entries;
        std::vector<std::string> problems; ///< "line 7 is cut short and was skipped"
    };
    [[nodiscard]] Result<Contents> read() const;
    /// This file's entries, then those of other files of the workspace that are about a kernel of
    /// one of `hashes`: what was tried on a kernel follows it when its file is renamed or the
    /// kernel moves to another one. Reads every memory file of the workspace; call it when a file
    /// is opened, not on each cursor move.
    [[nodiscard]] Result<Contents> readFollowing(const std::vector<std::uint64_t>& hashes) const;

private:
    std::filesystem::path folder_; ///< `<root>/.kernelskill/memory`
    std::filesystem::path path_;
};

/// Now, as entries spell it: "2025-01-31T12:00:00.123Z".
[[nodiscard]] std::string timestamp();

/// The last failure (incorrect or invalid verdict) of `skill` with `option` on a kernel of this
/// hash; nullptr if none.
[[nodiscard]] const MemoryEntry* lastFailure(const std::vector<MemoryEntry>& entries,
                                             std::uint64_t kernelHash, std::string_view skill,
                                             int option);

} // namespace kernelskill::engine
