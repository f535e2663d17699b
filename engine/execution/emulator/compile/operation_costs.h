/// What a GPU executes for a function or an operation that is one in the source.
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
    /// The last operation multiplies, and is fused with a sum that takes its result.
    bool endsInProduct = false;
};

/// `function` is a function of the C library, an operation that is no single instruction of a GPU
/// (fdiv, ddiv, frcp, drcp: a division, of one), or what the prelude names in a `ks_operation`
/// mark. A mathematical function whose cost is not known costs one UncountedCalls; nullopt for what
/// is no arithmetic. With `fastMath` as --use_fast_math has it.
[[nodiscard]] std::optional<FunctionCost> costOf(std::string_view function, bool fastMath);

} // namespace kernelskill::engine
