/// What the server and the emulator worker say to each other: one frame a message.
#pragma once

#include "analysis/source/error.h"
#include "engine/execution/emulator/counters.h"
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

struct WorkerJob {
    std::string image; ///< Absolute path of the shared object.
    Job job;
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

struct WorkerReport {
    std::optional<WorkerFailure> failure;
    std::map<Site, Counters> sites;
    Counters totals;
    std::vector<HazardReport> hazards;
    std::vector<BufferExtent> extents;
    std::uint64_t blocksRun = 0;
    std::vector<std::string> notes;
    std::vector<BufferContents> outputs;
    std::string printed;
};

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
