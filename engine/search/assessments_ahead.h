/// Runs texts that are likely to become versions while other work goes on.
#pragma once

#include "engine/search/optimization_steps.h"

#include <future>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// Belongs to one thread. Its end waits for what is under way.
class AssessmentsAhead {
public:
    /// `steps` outlives the object. `stop` ends what is under way.
    AssessmentsAhead(const OptimizationSteps& steps, std::stop_token stop)
        : steps_(steps), stop_(std::move(stop)) {}

    /// Begins to run the text, unless that has been done.
    void begin(const KernelVersion& text);
    /// The standing of the text, if it has begun and could be run. Waits for its end, or for
    /// `stop`.
    [[nodiscard]] std::optional<Standing> take(const KernelVersion& text,
                                               const std::stop_token& stop);

private:
    struct Entry {
        KernelVersion text;
        std::shared_future<Result<Standing>> standing;
    };
    [[nodiscard]] const Entry* find(const KernelVersion& text) const;

    const OptimizationSteps& steps_;
    std::stop_token stop_;
    std::vector<Entry> entries_;
};

} // namespace kernelskill::engine
