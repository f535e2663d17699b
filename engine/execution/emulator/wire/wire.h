/// The messages between the server and the emulator's worker, one frame each.
#pragma once

#include "analysis/source/error.h"
#include "engine/execution/emulator/wire/counters.h"
#include "engine/execution/job.h"
#include "engine/execution/profile.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kernelskill::engine::emulator {

/// A place in the image: the offset of an instruction from the load base. 0 means none.
using Site = std::uint64_t;

/// The blocks of a run are divided into equal rows, one per part; this is the part at `index`.
struct JobPart {
    std::uint64_t index = 0;
    std::uint64_t count = 1;
};

struct WorkerJob {
    std::string image; ///< Absolute path of the shared object.
    Job job;
    std::optional<JobPart> part; ///< If absent, the whole run.
};

struct HazardReport {
    HazardKind kind = HazardKind::Race;
    bool certain = true;
    Site site = 0;
    Site otherSite = 0;
    std::string message; ///< May contain site references, see siteReference().
    Dim3 block;
    Dim3 thread;
    HazardDetails details;
    bool operator==(const HazardReport&) const = default;
};

/// Why the run could not end. `where` is a path with a line if the image itself knows one.
struct WorkerFailure {
    ErrorKind kind = ErrorKind::Failed;
    std::string what; ///< May contain site references.
    std::string where;
    std::string remedy;
    Site site = 0;
    bool isCutOff = false; ///< Time or accesses were used up, which may be the inputs' fault.
};

/// From `first` up to, but without, `end`.
struct Interval {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    bool operator==(const Interval&) const = default;
};

/// The findings of a part, so that parts can be merged as if one worker had run all of them (see
/// run_parts.h). Places in buffers are relative to the low end of all buffers, so they agree
/// between workers.
struct PartFindings {
    /// The part ended at something whose outcome depends on other parts: an atomic on global
    /// memory, a grid barrier, a read of the clock. Then the rest of the report is invalid.
    bool needsOthers = false;
    /// The part executed fences or atomics, after which races between blocks are not reported.
    bool makesOrder = false;
    std::vector<Interval> written; ///< Words of four bytes, ascending.
    std::vector<Interval> read;
    struct FirstTouch {
        Site site = 0;
        bool stored = false;
        Interval sectors;
        bool operator==(const FirstTouch&) const = default;
    };
    std::vector<FirstTouch> firstTouches; ///< Each sector once for loads and once for stores.
    struct Branch {
        Site site = 0;
        Site successor = 0;
        bool branches = false; ///< Whether it has several targets.
        bool isForeign = false;
        bool operator==(const Branch&) const = default;
    };
    std::vector<Branch> branches; ///< All sites that counted branch targets.
};

struct WorkerReport {
    std::optional<WorkerFailure> failure;
    /// Only for a part, whose counts are neither scaled nor complete.
    std::optional<PartFindings> part;
    std::map<Site, Counters> sites;
    Counters totals;
    std::vector<HazardReport> hazards;
    std::vector<BufferExtent> extents;
    std::uint64_t blocksRun = 0;
    std::vector<std::string> notes;
    std::vector<BufferContents> outputs;
    std::string printed;
    std::vector<Contention> contentions;
    Outcomes conditions;
};

/// Scales the counts of `run` blocks, which are spread evenly, to the launch's whole grid. Blocks
/// may share data, so distinct bytes grow at most to the buffers' sizes.
void scaleCounts(WorkerReport& report, const LaunchSpec& launch, std::uint64_t run);
/// A note about the sampling; empty if every block was run.
[[nodiscard]] std::string sampleNote(std::uint64_t all, std::uint64_t run);
/// Removes the branch counts of a block that has only one target, or whose branch the user did not
/// write.
void dropBranchTargets(Counters& counters);

/// A text that represents a site until the server knows its line.
[[nodiscard]] std::string siteReference(Site site);
/// Replaces each site reference in `text` by the result of `describe`.
template <typename Describe>
std::string replaceSiteReferences(const std::string& text, Describe describe);

/// Whole frames with their length.
[[nodiscard]] std::vector<std::byte> encode(const WorkerJob& job);
[[nodiscard]] std::vector<std::byte> encode(const WorkerReport& report);

/// Reads a frame's payload without the length. Returns an Internal error for malformed data.
[[nodiscard]] Result<WorkerJob> decodeJob(std::span<const std::byte> payload);
[[nodiscard]] Result<WorkerReport> decodeReport(std::span<const std::byte> payload);

// Site references are "\x01<hex>\x02": neither source text nor demangled names contain control
// characters.
template <typename Describe>
std::string replaceSiteReferences(const std::string& text, Describe describe) {
    std::string result;
    std::size_t from = 0;
    while (true) {
        const std::size_t open = text.find('\x01', from);
        const std::size_t close = open == std::string::npos ? open : text.find('\x02', open);
        if (close == std::string::npos)
            return result + text.substr(from);
        result += text.substr(from, open - from);
        Site site = 0;
        for (const char digit : text.substr(open + 1, close - open - 1))
            site = site * 16 + static_cast<Site>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
        result += describe(site);
        from = close + 1;
    }
}

} // namespace kernelskill::engine::emulator
