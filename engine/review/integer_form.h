/// Tells the bits and the sign of a kernel's integers.
#pragma once

#include "analysis/syntax/syntax.h"

#include <optional>

namespace kernelskill::engine {

struct IntegerForm {
    unsigned bits = 0;
    bool isSigned = false;
};

/// nullopt for what is not one integer: arrays, pointers, vectors, `bool`, floating point.
[[nodiscard]] std::optional<IntegerForm> integerFormOf(const analysis::Type& type);

/// Whether `type` is one integer of so many bits.
[[nodiscard]] bool isIntegerOf(const analysis::Type& type, unsigned bits);

} // namespace kernelskill::engine
