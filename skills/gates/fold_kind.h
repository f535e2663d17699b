/// The operations by which values are folded into one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kernelskill::skills {

enum class FoldKind : std::uint8_t { Sum, Product, Minimum, Maximum, BitAnd, BitOr, BitXor };

/// "+=" of a sum; empty for a minimum and a maximum, which have no operator.
[[nodiscard]] std::string_view assignmentOperator(FoldKind fold);

/// The fold by the assignment operator `op`, e.g. a sum by "+=".
[[nodiscard]] std::optional<FoldKind> foldByOperator(std::string_view op);

} // namespace kernelskill::skills
