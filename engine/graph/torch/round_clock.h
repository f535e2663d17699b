/// Times single rounds of work on a device.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/torch/aten.h"

#include <chrono>
#include <cstdint>
#include <functional>

namespace kernelskill::engine::graph {

using Work = std::function<Result<void>()>;

class RoundClock {
public:
    /// Unsupported for a GPU with a LibTorch older than 2.3, whose events give no times. Throws
    /// c10::Error if there is no memory.
    [[nodiscard]] static Result<RoundClock> of(c10::Device device);

    /// Microseconds. On a GPU between two events around what the work launches on the current
    /// stream, behind a sweep of the L2 cache; it waits for the stream. On a CPU by the wall's
    /// clock. Throws what the work does.
    [[nodiscard]] Result<double> time(const Work& work);

    [[nodiscard]] bool isOfDevice() const { return !device_.is_cpu(); }

private:
    explicit RoundClock(c10::Device device) : device_(device) {}

    c10::Device device_;
    at::Tensor sweep_; ///< Has twice the L2 cache's size.
};

/// How many rounds are worth their time.
struct RoundLimits {
    std::uint32_t warmUpRounds = 5;
    std::uint32_t rounds = 20;
    /// No round begins after so long, except for one that warms up and one that is timed.
    std::chrono::milliseconds longest{30'000};
};

/// The microseconds of each round that counts.
[[nodiscard]] Result<std::vector<double>> timeRounds(const RoundLimits& limits,
                                                     const std::function<Result<double>()>& round);

} // namespace kernelskill::engine::graph
