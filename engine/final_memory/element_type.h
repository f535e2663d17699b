/// The types of the numbers in a program's buffers, by the kernels that get them.
#pragma once

#include "engine/final_memory/final_memory.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

enum class ElementType : std::uint8_t {
    Unknown, ///< A structure, or no kernel says it.
    Exact,   ///< Integers, characters and truth values.
    Float16,
    BFloat16,
    Float32,
    Float64,
};

/// "value", "integer", "float16", ...: for sentences.
[[nodiscard]] std::string_view spelling(ElementType type);
/// In bytes; 1 for Unknown and Exact.
[[nodiscard]] std::size_t sizeOf(ElementType type);

/// The type that a pointer's C++ spelling points to: "float const*", "double2*".
[[nodiscard]] ElementType elementOf(std::string_view pointer);

/// The type that all uses of the buffer agree on, as far as their kernels' symbols tell it.
[[nodiscard]] ElementType elementOf(const std::vector<BufferUse>& uses);

} // namespace kernelskill::engine
