#include "engine/execution/emulator/run_parts.h"

#include "analysis/source/gpu_constants.h"
#include "engine/execution/emulator/worker/hazard_log.h"

#include <algorithm>
#include <future>
#include <span>
#include <utility>

namespace kernelskill::engine::emulator {

namespace {

/// A smaller part would be finished before another worker has started.
constexpr std::uint64_t minPartThreads = 4096;

bool overlap(const std::vector<Interval>& one, const std::vector<Interval>& other) {
    auto a = one.begin();
    auto b = other.begin();
    while (a != one.end() && b != other.end()) {
        if (a->end <= b->first)
            ++a;
        else if (b->end <= a->first)
            ++b;
        else
            return true;
    }
    return false;
}

bool touchEachOther(const PartFindings& one, const PartFindings& other) {
    return overlap(one.written, other.written) || overlap(one.written, other.read) ||
           overlap(one.read, other.written);
}

bool isBetweenBlocks(const HazardReport& hazard) {
    return hazard.kind == HazardKind::Race && hazard.details.scope == RaceScope::Grid;
}

/// Whether each part ran as it would have run in a single worker.
bool areIndependent(std::span<const WorkerReport> parts) {
    bool makesOrder = false;
    bool racesBetweenBlocks = false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (!parts[i].part || parts[i].part->needsOthers)
            return false;
        for (std::size_t j = 0; j < i; ++j) {
            if (touchEachOther(*parts[i].part, *parts[j].part))
                return false;
        }
        makesOrder |= parts[i].part->makesOrder;
        racesBetweenBlocks |=
            std::any_of(parts[i].hazards.begin(), parts[i].hazards.end(), isBetweenBlocks);
    }
    return !(makesOrder && racesBetweenBlocks);
}

/// A set of sectors as ascending, disjoint intervals.
class SeenSectors {
public:
    [[nodiscard]] std::uint64_t countIn(const Interval& wanted) const {
        std::uint64_t count = 0;
        auto at = std::upper_bound(
            seen_.begin(), seen_.end(), wanted.first,
            [](std::uint64_t first, const Interval& interval) { return first < interval.end; });
        for (; at != seen_.end() && at->first < wanted.end; ++at)
            count += std::min(at->end, wanted.end) - std::max(at->first, wanted.first);
        return count;
    }
    void add(std::vector<Interval> intervals) {
        intervals.insert(intervals.end(), seen_.begin(), seen_.end());
        std::sort(intervals.begin(), intervals.end(),
                  [](const Interval& a, const Interval& b) { return a.first < b.first; });
        seen_.clear();
        for (const Interval& interval : intervals) {
            if (!seen_.empty() && interval.first <= seen_.back().end)
                seen_.back().end = std::max(seen_.back().end, interval.end);
            else
                seen_.push_back(interval);
        }
    }

private:
    std::vector<Interval> seen_;
};

/// Counts a sector only in the part that touches it first in the whole run.
void dropKnownSectors(WorkerReport& part, SeenSectors& seen, bool stored) {
    const Counter unique = stored ? Counter::UniqueBytesStored : Counter::UniqueBytesLoaded;
    std::vector<Interval> touched;
    for (const PartFindings::FirstTouch& touch : part.part->firstTouches) {
        if (touch.stored != stored)
            continue;
        part.sites[touch.site][unique] -= seen.countIn(touch.sectors) * analysis::sectorBytes;
        touched.push_back(touch.sectors);
    }
    seen.add(std::move(touched));
}

void addExtents(std::vector<BufferExtent>& extents, const std::vector<BufferExtent>& more) {
    for (std::size_t i = 0; i < extents.size() && i < more.size(); ++i) {
        extents[i].elements = std::max(extents[i].elements, more[i].elements);
        extents[i].read |= more[i].read;
        extents[i].written |= more[i].written;
    }
}

/// Zeros the same counters that WarpTrace::sites() would have zeroed.
void settleBranches(std::map<Site, Counters>& sites, const std::vector<WorkerReport>& parts) {
    std::map<Site, PartFindings::Branch> known;
    for (const WorkerReport& part : parts) {
        for (const PartFindings::Branch& branch : part.part->branches) {
            auto [at, isFirst] = known.try_emplace(branch.site, branch);
            at->second.branches |= branch.branches || at->second.successor != branch.successor;
            at->second.isForeign |= branch.isForeign;
        }
    }
    for (const auto& [site, branch] : known) {
        if (!branch.branches || branch.isForeign)
            dropBranchTargets(sites[site]);
    }
}

} // namespace

std::uint64_t partsFor(const Job& job, std::uint64_t most) {
    // Outputs would have to be merged byte by byte.
    if (!job.wantProfile || !job.wantHazards || job.wantOutputs)
        return 1;
    const std::uint64_t all = job.launch.grid.count();
    const std::uint64_t blocks = std::min(all, job.maxBlocks.value_or(all));
    const std::uint64_t worth = blocks * job.launch.block.count() / minPartThreads;
    return std::max<std::uint64_t>(1, std::min({most, blocks, worth}));
}

std::optional<WorkerReport> mergeParts(std::vector<WorkerReport> parts, const Job& job) {
    const auto failed = std::find_if(parts.begin(), parts.end(),
                                     [](const WorkerReport& part) { return part.failure; });
    // A single worker would have come as far as the first failure.
    const auto end = failed == parts.end() ? failed : failed + 1;
    if (parts.empty() || !areIndependent({parts.begin(), end}))
        return std::nullopt;
    if (failed != parts.end())
        return std::move(*failed);

    WorkerReport whole;
    whole.notes = parts.front().notes;
    whole.extents = parts.front().extents;
    HazardLog hazards;
    SeenSectors loaded;
    SeenSectors stored;
    for (WorkerReport& part : parts) {
        whole.blocksRun += part.blocksRun;
        addExtents(whole.extents, part.extents);
        unite(whole.conditions, part.conditions);
        for (HazardReport& hazard : part.hazards)
            hazards.add(std::move(hazard));
        dropKnownSectors(part, loaded, false);
        dropKnownSectors(part, stored, true);
        for (const auto& [site, counters] : part.sites)
            whole.sites[site] += counters;
    }
    if (hazards.isFull())
        return std::nullopt; // The order in which a single worker would have found them is unknown.
    whole.hazards = hazards.hazards();
    settleBranches(whole.sites, parts);
    std::uint64_t events = 0;
    for (const auto& [site, counters] : whole.sites)
        events += counters[Counter::ThreadEvents];
    if (events > job.limits.accesses)
        return std::nullopt;
    const std::uint64_t all = job.launch.grid.count();
    if (std::string note = sampleNote(all, whole.blocksRun); !note.empty())
        whole.notes.push_back(std::move(note));
    scaleCounts(whole, job.launch, whole.blocksRun);
    for (const auto& [site, counters] : whole.sites)
        whole.totals += counters;
    return whole;
}

std::optional<Result<WorkerReport>> runInParts(WorkerPool& workers, const WorkerJob& job,
                                               std::uint64_t parts, std::stop_token stop) {
    std::stop_source enough;
    const std::stop_callback cancelled(stop, [&] { enough.request_stop(); });
    std::vector<std::future<Result<WorkerReport>>> running;
    for (std::uint64_t i = 0; i < parts; ++i) {
        running.push_back(std::async(std::launch::async, [&, i] {
            WorkerJob part = job;
            part.part = JobPart{i, parts};
            auto report = workers.run(part, enough.get_token());
            // The other parts' work is useless.
            if (!report || !report->part || report->part->needsOthers)
                enough.request_stop();
            return report;
        }));
    }
    std::vector<WorkerReport> reports;
    std::optional<Error> failure;
    for (auto& part : running) {
        auto report = part.get();
        if (report)
            reports.push_back(std::move(*report));
        else if (!failure)
            failure = std::move(report.error());
    }
    if (stop.stop_requested() && failure)
        return std::unexpected(std::move(*failure));
    if (failure)
        return std::nullopt;
    auto whole = mergeParts(std::move(reports), job.job);
    if (!whole)
        return std::nullopt;
    return std::move(*whole);
}

} // namespace kernelskill::engine::emulator
