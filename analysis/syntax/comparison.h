/// Comparison operators: what holds where one does not, and with its sides exchanged.
#pragma once

#include <string_view>

namespace kernelskill::analysis {

/// The operator that holds where `op` does not; empty if `op` compares nothing.
constexpr std::string_view oppositeOperator(std::string_view op) {
    return op == "<"    ? ">="
           : op == "<=" ? ">"
           : op == ">"  ? "<="
           : op == ">=" ? "<"
           : op == "==" ? "!="
           : op == "!=" ? "=="
                        : "";
}

/// The operator that says the same with the sides exchanged; empty if `op` compares nothing.
constexpr std::string_view mirroredOperator(std::string_view op) {
    return op == "<"    ? ">"
           : op == "<=" ? ">="
           : op == ">"  ? "<"
           : op == ">=" ? "<="
           : op == "==" ? "=="
           : op == "!=" ? "!="
                        : "";
}

} // namespace kernelskill::analysis
