/// What the server and the emulator worker say to each other: one frame a message.
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

/// A place in the image: the offset of the instruction from the load base. 0: nowhere.
using Site = std::uint64_t;

/// Of the blocks that a run wants, in as many equal rows as there are parts, the one at `index`.
struct JobPart {
    std::uint64_t index = 0;
    std::uint64_t count = 1;
};

struct WorkerJob {
    std::string image; ///< Absolute path of the shared object.
    Job job;
    std::optional<JobPart> part; ///< Absent: the whole run.
};

struct HazardReport {
    HazardKind kind = HazardKind::Race;
    bool certain = true;
    Site site = 0;
    Site otherSite = 0;
    std::string message; ///< May hold site references, see siteReference().
    Dim3 block;
    Dim3 thread;
    HazardDetails details;
    bool operator==(const HazardReport&) const = default;
};

/// The run could not end. `where` is a path with a line if the image itself knows one.
struct WorkerFailure {
    ErrorKind kind = ErrorKind::Failed;
    std::string what; ///< May hold site references.
    std::string where;
    std::string remedy;
    Site site = 0;
    bool isCutOff = false; ///< Time or accesses were spent: it may be the inputs' fault.
};

/// From `first` to before `end`.
struct Interval {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    bool operator==(const Interval&) const = default;
};

/// What a part of a run has to say for the parts to be put together as if one worker had run all of
/// them (see run_parts.h). Places in buffers count from the low end of all buffers, which is the
/// same place in every worker.
struct PartFindings {
    /// It did something whose outcome hangs on blocks of other parts, and ended there: an atomic on
    /// global memory, a grid barrier, a look at the clock. Nothing else in the report counts.
    bool needsOthers = false;
    /// Fences or atomics were seen, after which races between blocks are not reported.
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
        bool branches = false; ///< It has others.
        bool isForeign = false;
        bool operator==(const Branch&) const = default;
    };
    std::vector<Branch> branches; ///< Of all sites that counted branch targets.
};

struct WorkerReport {
    std::optional<WorkerFailure> failure;
    std::optional<PartFindings> part; ///< Of a part: its counts are neither scaled nor complete.
    std::map<Site, Counters> sites;
    Counters totals;
    std::vector<HazardReport> hazards;
    std::vector<BufferExtent> extents;
    std::uint64_t blocksRun = 0;
    std::vector<std::string> notes;
    std::vector<BufferContents> outputs;
    std::string printed;
};

/// Counts of the `run` blocks, spread evenly, as those of the launch's whole grid. Blocks may share
/// what they touch: distinct bytes grow to the buffers' sizes at most.
void scaleCounts(WorkerReport& report, const LaunchSpec& launch, std::uint64_t run);
/// Says so; empty when every block was run.
[[nodiscard]] std::string sampleNote(std::uint64_t all, std::uint64_t run);
/// What a block that goes on in one way only, or in ways that the user did not write, counted: it
/// ends in no branch worth the name.
void dropBranchTargets(Counters& counters);

/// Text that stands for a site until the server knows its line.
[[nodiscard]] std::string siteReference(Site site);
/// Calls `describe` for each site reference in `text` and puts what it returns in its place.
template <typename Describe>
std::string replaceSiteReferences(const std::string& text, Describe describe);

/// Whole frames, length included.
[[nodiscard]] std::vector<std::byte> encode(const WorkerJob& job);
[[nodiscard]] std::vector<std::byte> encode(const WorkerReport& report);

/// From a frame's payload, without the length. Internal error for anything malformed.
[[nodiscard]] Result<WorkerJob> decodeJob(std::span<const std::byte> payload);
[[nodiscard]] Result<WorkerReport> decodeReport(std::span<const std::byte> payload);

// Site references are "\x01<hex>\x02": no source text or demangled name holds control characters.
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
