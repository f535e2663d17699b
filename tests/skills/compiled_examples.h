/// The GPU's compiler's facts about the examples of those skills that ask for them, so that they
/// can be tested where there is no CUDA toolkit. Where there is one, compiled_examples_test asks
/// it.
#pragma once

#include "skills/base/compiled_kernel.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

/// Registers and shared memory of a kernel in blocks of `threads` threads on sm_90, with its
/// occupancy; `spilled` bytes are stored and loaded.
[[nodiscard]] CompiledKernel compiledAs(std::uint32_t registers, std::uint32_t threads,
                                        std::uint64_t sharedBytes = 0, std::uint64_t spilled = 0);

struct CompiledExample {
    std::string skill;
    CompiledKernel before;
    CompiledKernel after;
};

/// By nvcc 13.0 for sm_90.
[[nodiscard]] const std::vector<CompiledExample>& compiledExamples();
/// nullptr: the skill does not ask.
[[nodiscard]] const CompiledExample* compiledExample(std::string_view skill);

} // namespace kernelskill::skills
