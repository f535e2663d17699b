/// The edits that were tried on a file, as an append-only file with one JSON object per line under
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
        0; ///< KernelModel::normalisedHash. It survives renames, moves and edits elsewhere.
    std::string skill;
    int option = 0;       ///< Offer::option
    std::string editHash; ///< Hash of the edits in hexadecimal; empty for plans.
    std::string status;   ///< The verdict's spelling; empty for plans.
    std::string detail;   ///< The reason, or the check that failed.
    /// For a verdict, the hash of the edited kernel; 0 if not recorded.
    std::uint64_t resultHash = 0;
    /// The architecture that it was judged for, "sm_90"; empty if not recorded.
    std::string architecture;
    std::optional<double> speedup; ///< Only of a measured verdict.
    std::optional<bool> isKept;    ///< The decision of an optimisation; nullopt if there was none.
    std::optional<CandidateDiagnosis> diagnosis; ///< Why it was not kept, if known.
};

/// The entries of one file. A line cut short by a crash is skipped and reported when read, and
/// repaired by the next append. Several processes may append to one file: each append holds the
/// file's lock.
class ShortTermMemory {
public:
    /// `workspaceRoot` holds `.kernelskill/`. `file` lies inside it; else its folder is used as the
    /// root.
    ShortTermMemory(const std::filesystem::path& workspaceRoot, const std::filesystem::path& file);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// Writes one line in one write and syncs it. Failed if the workspace is read-only; existing
    /// entries are not harmed.
    Result<void> append(const MemoryEntry& entry) const;
    struct Contents {
        std::vector<MemoryEntry> entries;
        std::vector<std::string> problems; ///< "line 7 is cut short and was skipped"
    };
    [[nodiscard]] Result<Contents> read() const;
    /// The entries of this file, then entries of other files of the workspace about kernels with
    /// one of `hashes`. So the history of a kernel survives if its file is renamed or if it moves
    /// to another file. Reads every memory file of the workspace: call it when a file is opened,
    /// not on each cursor move.
    [[nodiscard]] Result<Contents> readFollowing(const std::vector<std::uint64_t>& hashes) const;

private:
    std::filesystem::path folder_; ///< `<root>/.kernelskill/memory`
    std::filesystem::path path_;
};

/// The current time in the format of entries: "2025-01-31T12:00:00.123Z".
[[nodiscard]] std::string timestamp();

/// The last failure (incorrect or invalid verdict) of `skill` with `option` on the kernel with this
/// hash; nullptr if there is none.
[[nodiscard]] const MemoryEntry* lastFailure(const std::vector<MemoryEntry>& entries,
                                             std::uint64_t kernelHash, std::string_view skill,
                                             int option);

} // namespace kernelskill::engine
