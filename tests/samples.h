/// How much of what takes long a run of the tests takes.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <vector>

namespace kernelskill {

/// script/test --nightly takes every case.
[[nodiscard]] inline bool takesEveryCase() {
    return std::getenv("KERNELSKILL_ALL_CASES") != nullptr;
}

/// One of so many cases is taken: all of them, or the `sample`th.
[[nodiscard]] inline std::size_t casesApart(std::size_t sample) {
    return takesEveryCase() ? 1 : sample;
}

/// One of `sample` values, the first among them: parameters of tests that take seconds each.
template <typename Value>
[[nodiscard]] std::vector<Value> sampleOf(const std::vector<Value>& values, std::size_t sample) {
    std::vector<Value> taken;
    for (std::size_t i = 0; i < values.size(); i += casesApart(sample))
        taken.push_back(values[i]);
    return taken;
}

} // namespace kernelskill
