/// How much of what takes long a run of the tests takes.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace kernelskill {

/// script/test --nightly takes every case.
[[nodiscard]] inline bool takesEveryCase() {
    return std::getenv("KERNELSKILL_ALL_MUTANTS") != nullptr;
}

/// One of so many cases is taken: all of them, or the `sample`th.
[[nodiscard]] inline std::size_t casesApart(std::size_t sample) {
    return takesEveryCase() ? 1 : sample;
}

} // namespace kernelskill
