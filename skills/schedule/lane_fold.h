/// Values that rounds of a loop fold into.
#pragma once

#include "analysis/syntax/syntax.h"

#include <string>
#include <string_view>

namespace kernelskill::skills {

/// A value that the rounds of a loop fold into by one operator.
struct LaneFold {
    std::string name;
    std::string type; ///< The type as the program writes it.
    std::string op;   ///< "+", "*", "&", "|", "^", "min" or "max".
    analysis::ScalarKind scalar = analysis::ScalarKind::Float;
    bool startsNeutral = false; ///< It is the operator's identity when the loop begins.
};

/// Returns whether folding a value in twice changes nothing, so that threads need not begin with an
/// identity.
[[nodiscard]] inline bool isIdempotent(const LaneFold& fold) {
    return fold.op == "min" || fold.op == "max" || fold.op == "&" || fold.op == "|";
}

/// Returns whether shuffles take values of that kind, and operators do not promote them.
[[nodiscard]] inline bool isFoldable(analysis::ScalarKind scalar) {
    using enum analysis::ScalarKind;
    return scalar == Float || scalar == Double || scalar == Int32 || scalar == UInt32 ||
           scalar == Int64 || scalar == UInt64;
}

[[nodiscard]] inline bool isFoldOperator(std::string_view op) {
    return op == "+" || op == "*" || op == "&" || op == "|" || op == "^" || op == "min" ||
           op == "max";
}

} // namespace kernelskill::skills
