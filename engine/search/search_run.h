/// One run of a search: the state that its steps share. Only OptimizationSearch makes one.
#pragma once

#include "engine/search/deadline.h"
#include "engine/search/optimization_search.h"
#include "engine/search/rounds_ahead.h"
#include "engine/search/search_version.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// A search, step by step. The references live as long as the run.
class SearchRun {
public:
    SearchRun(OptimizationSteps& steps, const OptimizationOptions& options, KernelVersion original,
              std::stop_token stop, const ProgressSink& progress)
        : steps_(steps), options_(options), stop_(std::move(stop)), progress_(progress),
          deadline_(begin_ + options.time, stop_), lateDeadline_(begin_ + 2 * options.time, stop_),
          ahead_(steps, options, stop_) {
        result_.kernel = original.kernelName;
        versions_.emplace_back().text = std::move(original);
    }

    /// Plays rounds until the search is over. Called once.
    [[nodiscard]] Result<Optimization> run();

private:
    // search_run.cpp
    [[nodiscard]] bool isOver();
    void playRound();
    void verifyBest(const std::stop_token& stop);
    [[nodiscard]] Optimization finished();
    bool stopBecause(StopReason reason, std::string text);
    /// Tells the progress sink. Called by several threads at once.
    void say(std::string_view what) const;
    // search_choice.cpp
    [[nodiscard]] std::vector<SearchCandidate> choose();
    [[nodiscard]] std::vector<SearchCandidate> chooseTuned();
    [[nodiscard]] std::optional<Draft> takePrepared(SearchCandidate& candidate);
    void prepareAll(std::vector<SearchCandidate>& candidates);
    void prepare(SearchCandidate& candidate, Draft draft, std::set<std::uint64_t>& codes);
    [[nodiscard]] std::vector<std::size_t> versionsByRank() const;
    void assess(SearchVersion& version, const std::stop_token& stop);
    void workAhead(const KernelVersion& text);
    void workAheadOnMostPromising(const std::vector<SearchCandidate*>& open);
    [[nodiscard]] bool canLeadOn(const SearchVersion& version) const;
    [[nodiscard]] TriedPlans slowerBefore(const SearchVersion& version) const;
    // search_judgement.cpp
    void screenAll(std::vector<SearchCandidate>& candidates);
    void screen(const SearchVersion& base, const std::vector<SearchCandidate*>& candidates);
    void dropThoseBehind(std::vector<SearchCandidate>& candidates) const;
    [[nodiscard]] bool isBehind(const SearchCandidate& candidate) const;
    void postpone(std::vector<SearchCandidate>& candidates);
    void leaveForLater(SearchCandidate& candidate, std::string why);
    void judgeAll(std::vector<SearchCandidate>& candidates);
    [[nodiscard]] std::vector<SearchCandidate*>
    openByPromise(std::vector<SearchCandidate>& candidates) const;
    [[nodiscard]] double promiseOf(const SearchCandidate& candidate) const;
    [[nodiscard]] bool hasClearLeader(const std::vector<SearchCandidate*>& open) const;
    [[nodiscard]] bool isWorthBuildingOn(const SearchCandidate& candidate) const;
    void judge(SearchCandidate& candidate, const std::stop_token& roundsEnd);
    void reviewSumAhead(SearchCandidate& candidate);
    [[nodiscard]] skills::Accuracy accuracyOf(const SearchCandidate& candidate) const;
    void decide(SearchCandidate& candidate, const Standing& after, const std::stop_token& stop);
    void conclude(SearchCandidate& candidate, const std::stop_token& stop);
    void limitSteps(std::vector<SearchCandidate>& candidates);
    [[nodiscard]] std::vector<std::string> openedBy(const SearchCandidate& candidate,
                                                    const std::stop_token& stop) const;
    void settle(SearchCandidate candidate);
    [[nodiscard]] SearchVersion versionOf(SearchCandidate& candidate) const;

    [[nodiscard]] std::size_t bestVersion() const;
    /// The version that the candidate is compared with.
    [[nodiscard]] const SearchVersion& baseOf(const SearchCandidate& candidate) const {
        return versions_[versions_[candidate.version].base];
    }
    /// The number of reviews to make at once.
    [[nodiscard]] std::size_t slots() const;
    /// Whether other options of the best version's steps are still to be tried.
    [[nodiscard]] bool canTune() const { return bestVersion() != tunedVersion_; }
    [[nodiscard]] bool hasSteps() const {
        return std::ranges::any_of(versions_, [](const SearchVersion& version) {
            return version.isStep() && !version.isDropped;
        });
    }

    OptimizationSteps& steps_;
    const OptimizationOptions& options_;
    std::stop_token stop_;
    const ProgressSink& progress_;
    mutable std::mutex saying_;
    Deadline::Clock::time_point begin_ = Deadline::Clock::now();
    Deadline deadline_;
    Deadline lateDeadline_; ///< The deadline of a promising candidate's review.

    std::vector<SearchVersion> versions_;
    Optimization result_;
    int roundsWithoutGain_ = 0;
    bool wasFresh_ = true; ///< Whether the last round learnt something new to memory.
    bool isExhausted_ = false;
    /// Whether only stepping stones are built on, since rounds on versions that gain found nothing.
    bool isDetour_ = false;
    std::size_t tunedVersion_ = 0; ///< The version that was tuned last.
    std::set<std::uint64_t> decidedCodes_;
    RoundsAhead ahead_; ///< Declared last, because what is under way uses other members.
};

} // namespace kernelskill::engine
