#include "analysis/model/integer_arithmetic.h"

#include <limits>

namespace kernelskill::analysis {

std::optional<std::int64_t> integerResult(std::string_view op, std::int64_t left,
                                          std::int64_t right) {
    constexpr std::int64_t maxShift = 62;
    std::int64_t result = 0;
    const auto unless = [&](bool overflows) {
        return overflows ? std::nullopt : std::optional(result);
    };
    if (op == "+")
        return unless(__builtin_add_overflow(left, right, &result));
    if (op == "-")
        return unless(__builtin_sub_overflow(left, right, &result));
    if (op == "*")
        return unless(__builtin_mul_overflow(left, right, &result));
    if (op == "&")
        return left & right;
    if (op == "|")
        return left | right;
    if (op == "^")
        return left ^ right;
    if (op == "/" || op == "%") {
        const bool overflows = left == std::numeric_limits<std::int64_t>::min() && right == -1;
        if (right == 0 || overflows)
            return std::nullopt;
        return op == "/" ? left / right : left % right;
    }
    if (right < 0 || right > maxShift)
        return std::nullopt;
    if (op == "<<")
        return unless(__builtin_mul_overflow(left, std::int64_t{1} << right, &result));
    if (op == ">>")
        return left >> right;
    return std::nullopt;
}

} // namespace kernelskill::analysis
