/// The GPU instructions for a function, or for an operation that is single in the source.
#pragma once

#include "engine/execution/emulator/wire/counters.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kernelskill::engine {

struct OperationCost {
    emulator::Counter counter = emulator::Counter::Count;
    std::uint32_t count = 0;
};

struct FunctionCost {
    std::span<const OperationCost> operations;
    /// The last operation is a multiplication that fuses with a sum of its result.
    bool endsInProduct = false;
};

/// `function` is a function of the C library; or an operation without a single GPU instruction
/// (fdiv, ddiv, frcp, drcp: a division, a reciprocal); or a name in one of the prelude's
/// `ks_operation` marks. A mathematical function of unknown cost costs one UncountedCalls. nullopt
/// if it is no arithmetic. `fastMath` has the meaning of --use_fast_math.
[[nodiscard]] std::optional<FunctionCost> costOf(std::string_view function, bool fastMath);

} // namespace kernelskill::engine
