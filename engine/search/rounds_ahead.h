/// Works on texts that are likely to become versions while other work goes on.
#pragma once

#include "engine/search/optimization_steps.h"

#include <cstdint>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// A plan's edit of a text, made before a round reviews it.
struct PreparedPlan {
    Draft draft;
    bool isScreened = false; ///< Whether it was looked at.
    /// Tells what the look showed; see OptimizationSteps::screen().
    Result<Screening> screening = notTimed("not looked at");
};

/// Prepared plans of one text by their skill and its option.
using PreparedPlans = std::map<std::pair<std::string, int>, PreparedPlan>;

/// Belongs to one thread. Its end stops what is under way, and waits for that.
class RoundsAhead {
public:
    /// `steps` and `options` outlive the object. `stop` ends what is under way.
    RoundsAhead(const OptimizationSteps& steps, const OptimizationOptions& options,
                std::stop_token stop)
        : steps_(steps), options_(options), stop_(std::move(stop)) {}
    RoundsAhead(const RoundsAhead&) = delete;
    RoundsAhead& operator=(const RoundsAhead&) = delete;
    ~RoundsAhead();

    /// Begins to run the text, unless that has been done.
    void begin(const KernelVersion& text);
    /// As begin(). Then makes the edits of the plans that a round on this text would take first,
    /// and looks at them. Leaves out plans of a language model, and looks at no code whose hash is
    /// in `known`. `stop` ends it as well.
    void beginRound(const KernelVersion& text, std::set<std::uint64_t> known, std::stop_token stop);
    /// The standing of the text, if it has begun and could be run. Waits for its end, or for
    /// `stop`.
    [[nodiscard]] std::optional<Standing> take(const KernelVersion& text,
                                               const std::stop_token& stop);
    /// The plans of beginRound(), once; empty if there are none. Waits for them, or for `stop`.
    [[nodiscard]] PreparedPlans takePlans(const KernelVersion& text, const std::stop_token& stop);
    /// Ends the work on a text that will be no version. It may be begun anew.
    void drop(const KernelVersion& text);

private:
    struct Entry {
        KernelVersion text;
        std::stop_source over;
        std::shared_future<Result<Standing>> standing;
        std::future<PreparedPlans> plans; ///< Not valid if no round was begun.
    };
    [[nodiscard]] Entry* find(const KernelVersion& text);
    Entry& begun(const KernelVersion& text);
    [[nodiscard]] PreparedPlans prepare(const KernelVersion& text, const Standing& standing,
                                        const std::set<std::uint64_t>& known,
                                        const std::stop_token& stop) const;

    const OptimizationSteps& steps_;
    const OptimizationOptions& options_;
    std::stop_token stop_;
    std::list<Entry> entries_;
};

} // namespace kernelskill::engine
