/// The functions of terms whose meaning a proof knows.
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
    int bits = 0; ///< The width of the type, for functions of bits.
    bool isSignedType = false;
};

/// The operation with the name that a TermTable or a ThreadRun gives it.
[[nodiscard]] KnownOperation operationOf(std::string_view function);

} // namespace kernelskill::engine
