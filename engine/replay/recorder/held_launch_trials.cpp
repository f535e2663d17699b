/// How candidates are compared with the launch that is held, and timed in turns with it.
#include "engine/replay/recorder/held_launch.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine::replay {
namespace {

constexpr std::uint32_t warmUpRounds = 3;
constexpr std::uint32_t maxRounds = 1'000;
/// So many rounds show that a candidate is far slower than the original.
constexpr std::uint32_t roundsOfFarSlower = 3;

/// Whether a run of the candidate took so long that a second one would only cost time.
bool crawls(double microseconds, const HeldDescription& held) {
    return std::chrono::duration<double, std::micro>(microseconds) > longestRun(held);
}

/// Whether rounds of both show that the candidate is far slower.
bool isFarBehind(const std::vector<double>& original, const std::vector<double>& candidate) {
    return candidate.size() >= roundsOfFarSlower &&
           std::ranges::min(candidate) > farSlower * std::ranges::max(original);
}

/// Whether the candidate writes only where the original writes, too.
bool isHarmless(const CandidateResult& result) {
    return !result.isByStaleMemory &&
           std::ranges::all_of(result.differences,
                               [](const MemoryDifference& each) { return each.strayBytes == 0; });
}

/// Merges a difference into `known`, which has one for each part of memory.
void widen(std::vector<MemoryDifference>& known, const MemoryDifference& found) {
    const auto same = std::ranges::find(known, found.where, &MemoryDifference::where);
    if (same == known.end()) {
        known.push_back(found);
        return;
    }
    same->firstOffset = std::min(same->firstOffset, found.firstOffset);
    same->differingBytes = std::max(same->differingBytes, found.differingBytes);
    same->strayBytes = std::max(same->strayBytes, found.strayBytes);
    same->maxRelative = std::max(same->maxRelative, found.maxRelative);
    if (same->element != found.element)
        same->element = MemoryElement::Bytes;
}

} // namespace

ReplayAnswer HeldLaunch::answer(const TryRequest& request) {
    TryAnswer answer;
    const auto failure = [&](const Error& error) {
        // A failed call may hide that the context is lost; waiting for the stream shows it.
        const bool isFatal = work_->isLost() || !work_->finish();
        return ReplayFailure{error, isFatal, running_, answer};
    };
    running_.reset();
    if (auto done = poison(request); !done)
        return failure(done.error());
    if (poisoned_ && !poisoned_->note.empty())
        answer.notes.push_back(poisoned_->note);
    if (!description_.variation.empty()) {
        auto found = variation(request);
        if (!found)
            return failure(found.error());
        answer.variation = std::move(*found);
    }
    Candidates candidates;
    for (const ReplayCandidate& given : request.candidates) {
        CandidateResult& result = answer.candidates.emplace_back();
        auto loaded = LoadedCandidate::load(driver_, *work_, given, original_, held_, *symbols_);
        if (!loaded) {
            result.refusal = loaded.error();
            candidates.push_back(nullptr);
            continue;
        }
        running_ = static_cast<std::uint32_t>(candidates.size());
        result.notes = (*loaded)->notes();
        if (auto checked = check(**loaded, request, result); !checked) {
            if (work_->isLost() || checked.error().kind != ErrorKind::InvalidInput)
                return failure(checked.error());
            result.refusal = checked.error();
            loaded->reset();
        }
        running_.reset();
        candidates.push_back(std::move(*loaded));
    }
    if (request.rounds > 0) {
        if (auto timed = time(candidates, request, answer); !timed)
            return failure(timed.error());
    }
    if (auto done = memory_->restoreAll(); !done)
        return failure(done.error());
    return answer;
}

Result<void> HeldLaunch::check(const LoadedCandidate& candidate, const TryRequest& request,
                               CandidateResult& result) {
    const OtherResults none;
    auto limit = limitOf(request, description_);
    const auto compare = [&](const Poisoned* poisoned) -> Result<void> {
        if (auto ran = runOnce(candidate.run(), candidate.variables(), poisoned, limit); !ran)
            return ran;
        auto found = memory_->differences(request.elements, candidate.variables(),
                                          poisoned != nullptr ? poisoned->results : none);
        if (!found)
            return std::unexpected(found.error());
        result.differences = std::move(*found);
        return {};
    };
    for (std::uint32_t i = 0; i < std::max(request.checks, 1u) && result.differences.empty(); ++i) {
        if (auto compared = compare(nullptr); !compared)
            return compared;
        const auto time = work_->microseconds();
        if (!time)
            return std::unexpected(time.error());
        if (!crawls(*time, description_)) {
            limit = limitOfLaterRun(request, description_);
        } else if (request.rounds > 0 && isHarmless(result)) {
            result.microseconds = {*time};
            return {};
        }
    }
    if (!result.differences.empty() || !poisoned_ || poisoned_->places.empty())
        return {};
    if (auto compared = compare(&*poisoned_); !compared)
        return compared;
    result.isByStaleMemory = !std::ranges::all_of(result.differences, &MemoryDifference::isOfHost);
    return {};
}

Result<std::vector<MemoryDifference>> HeldLaunch::variation(const TryRequest& request) {
    std::vector<MemoryDifference> all;
    for (std::uint32_t i = 0; i < std::max(request.checks, 1u); ++i) {
        if (auto ran = runOnce(original_, noVariables, nullptr, originalLimit()); !ran)
            return std::unexpected(ran.error());
        const auto found = memory_->differences(request.elements, noVariables);
        if (!found)
            return std::unexpected(found.error());
        for (const MemoryDifference& each : *found)
            widen(all, each);
    }
    return all;
}

Result<void> HeldLaunch::time(const Candidates& candidates, const TryRequest& request,
                              TryAnswer& answer) {
    struct Subject {
        const KernelRun* run;
        const VariablePlaces* variables;
        std::vector<double>* microseconds;
        std::optional<std::uint32_t> candidate;
    };
    std::vector<Subject> subjects{{&original_, &noVariables, &answer.original, std::nullopt}};
    bool anyCrawls = false; // Then it has its time.
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        CandidateResult& result = answer.candidates[i];
        anyCrawls = anyCrawls || !result.microseconds.empty();
        if (candidates[i] && result.microseconds.empty() && isHarmless(result))
            subjects.push_back({&candidates[i]->run(), &candidates[i]->variables(),
                                &result.microseconds, static_cast<std::uint32_t>(i)});
    }
    if (subjects.size() == 1 && !anyCrawls)
        return {};
    const std::uint32_t rounds = warmUpRounds + std::min(request.rounds, maxRounds);
    for (std::uint32_t round = 0; round < rounds; ++round) {
        for (std::size_t step = 0; step < subjects.size(); ++step) {
            // The order alternates, so that each kernel is first as often as last.
            const Subject& subject = subjects[round % 2 == 0 ? step : subjects.size() - 1 - step];
            running_ = subject.candidate;
            const auto time = timeOnce(*subject.run, *subject.variables,
                                       subject.candidate ? limitOfLaterRun(request, description_)
                                                         : originalLimit());
            if (!time)
                return std::unexpected(time.error());
            if (round >= warmUpRounds)
                subject.microseconds->push_back(*time);
        }
        std::erase_if(subjects, [&](const Subject& subject) {
            return subject.candidate && isFarBehind(answer.original, *subject.microseconds);
        });
        if (subjects.size() == 1 && !answer.original.empty())
            break;
    }
    running_.reset();
    return {};
}

Result<double> HeldLaunch::timeOnce(const KernelRun& run, const VariablePlaces& variables,
                                    std::chrono::milliseconds limit) {
    auto done = memory_->restore();
    if (done)
        done = memory_->seed(variables);
    if (done)
        done = work_->sweepCache();
    // The queue has to be empty, because a waiting launch would be timed with the work before it.
    if (done)
        done = work_->finish();
    if (done)
        done = launchTimed(run, limit);
    if (!done)
        return std::unexpected(done.error());
    return work_->microseconds();
}

} // namespace kernelskill::engine::replay
