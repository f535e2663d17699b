/// A quantity that is known to lie between two ends.
#pragma once

namespace kernelskill::engine {

struct Interval {
    double low = 0;
    double high = 0;
    bool operator==(const Interval&) const = default;
};

} // namespace kernelskill::engine
