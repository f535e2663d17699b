/// The functions of terms of which more is known than that they are functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace kernelskill::engine {

enum class KnownFunction : std::uint8_t {
    None,
    Quotient,
    Remainder,
    Choice,
    NumberOfTruth,
    Wrap,
    And,
    Or,
    ExclusiveOr,
    ShiftLeft,
    ShiftRight,
    Least,
    Largest,
};

struct KnownOperation {
    KnownFunction function = KnownFunction::None;
    int bits = 0; ///< Of the type, for what works on bits.
    bool isSignedType = false;
};

/// By the name that a TermTable, or a ThreadRun, gives a function of integers.
[[nodiscard]] KnownOperation operationOf(std::string_view function);

} // namespace kernelskill::engine
