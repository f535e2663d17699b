/// Evaluates operators on constant integers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kernelskill::analysis {

/// `left op right` for + - * / % << >> & | ^, with C++'s meaning in 64 bits. nullopt for any other
/// operator, a division by zero, a shift by less than 0 or more than 62, and a result that does not
/// fit.
[[nodiscard]] std::optional<std::int64_t> integerResult(std::string_view op, std::int64_t left,
                                                        std::int64_t right);

} // namespace kernelskill::analysis
