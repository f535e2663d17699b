/// Short names for what operators compute with. Results have the type of the first argument.
#pragma once

#include "analysis/raise/scalar.h"

namespace kernelskill::engine::graph {

using analysis::ScalarKind;
using analysis::raise::Function;
using analysis::raise::Index;
using analysis::raise::isFloating;
using analysis::raise::Scalar;

[[nodiscard]] inline Scalar constantLike(const Scalar& value, double number) {
    return isFloating(value->type)
               ? analysis::raise::number(value->type, number)
               : analysis::raise::integerNumber(value->type, static_cast<std::int64_t>(number));
}
[[nodiscard]] inline Scalar applied(Function function, const Scalar& value) {
    return call(value->type, function, {value});
}
[[nodiscard]] inline Scalar applied(Function function, const Scalar& left, const Scalar& right) {
    return call(left->type, function, {left, right});
}
[[nodiscard]] inline Scalar plus(const Scalar& left, const Scalar& right) {
    return applied(Function::Add, left, right);
}
[[nodiscard]] inline Scalar plus(const Scalar& left, double right) {
    return plus(left, constantLike(left, right));
}
[[nodiscard]] inline Scalar minus(const Scalar& left, const Scalar& right) {
    return applied(Function::Subtract, left, right);
}
[[nodiscard]] inline Scalar times(const Scalar& left, const Scalar& right) {
    return applied(Function::Multiply, left, right);
}
[[nodiscard]] inline Scalar times(const Scalar& left, double right) {
    return times(left, constantLike(left, right));
}
[[nodiscard]] inline Scalar over(const Scalar& left, const Scalar& right) {
    return applied(Function::Divide, left, right);
}
[[nodiscard]] inline Scalar over(const Scalar& left, double right) {
    return over(left, constantLike(left, right));
}
[[nodiscard]] inline Scalar atLeast(const Scalar& value, double bound) {
    return applied(Function::Maximum, value, constantLike(value, bound));
}
[[nodiscard]] inline Scalar atMost(const Scalar& value, double bound) {
    return applied(Function::Minimum, value, constantLike(value, bound));
}
[[nodiscard]] inline Scalar isLess(const Scalar& left, const Scalar& right) {
    return call(ScalarKind::Bool, Function::Less, {left, right});
}
[[nodiscard]] inline Scalar isLess(const Scalar& left, double right) {
    return isLess(left, constantLike(left, right));
}
[[nodiscard]] inline Scalar isAbove(const Scalar& left, double right) {
    return isLess(constantLike(left, right), left);
}
[[nodiscard]] inline Scalar isEqual(const Scalar& left, const Scalar& right) {
    return call(ScalarKind::Bool, Function::Equal, {left, right});
}
[[nodiscard]] inline Scalar both(const Scalar& left, const Scalar& right) {
    return call(ScalarKind::Bool, Function::And, {left, right});
}

} // namespace kernelskill::engine::graph
