/// Operators that work on each element alone.
#include "engine/graph/lowering/lowering.h"

#include <array>
#include <cmath>
#include <functional>
#include <numbers>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::converted;
using analysis::raise::mapped;
using analysis::raise::zipped;
using Values = std::vector<Scalar>;

/// A function of one element, computed in float for halves.
Results unary(Lowering& in, const std::function<Scalar(const Scalar&)>& function) {
    const ScalarKind type = in.resultType();
    const ScalarKind work = computedIn(type);
    return {mapped(in.tensor("self"), type,
                   [=](const Scalar& x) { return converted(function(converted(x, work)), type); })};
}

template <Function function>
Results plain(Lowering& in) {
    return unary(in, [](const Scalar& x) { return applied(function, x); });
}

/// An operator of two operands, either of which may be a number.
Results binary(Lowering& in, const std::function<Scalar(const Scalar&, const Scalar&)>& function) {
    const ScalarKind type = in.resultType();
    const ScalarKind work = computedIn(type);
    return {zipped({in.operand("self"), in.operand("other")}, type, [=](const Values& x) {
        return converted(function(converted(x[0], work), converted(x[1], work)), type);
    })};
}

Results add(Lowering& in) {
    const double alpha = in.real("alpha");
    return binary(in,
                  [alpha](const Scalar& x, const Scalar& y) { return plus(x, times(y, alpha)); });
}
Results subtract(Lowering& in) {
    const double alpha = in.real("alpha");
    return binary(in,
                  [alpha](const Scalar& x, const Scalar& y) { return minus(x, times(y, alpha)); });
}
Results subtractFrom(Lowering& in) {
    const double alpha = in.real("alpha");
    return binary(in,
                  [alpha](const Scalar& x, const Scalar& y) { return minus(y, times(x, alpha)); });
}
Results multiply(Lowering& in) {
    return binary(in, [](const Scalar& x, const Scalar& y) { return times(x, y); });
}
Results divide(Lowering& in) {
    return binary(in, [](const Scalar& x, const Scalar& y) { return over(x, y); });
}
Results minimum(Lowering& in) {
    return binary(
        in, [](const Scalar& x, const Scalar& y) { return applied(Function::Minimum, x, y); });
}

Results equal(Lowering& in) {
    const Tensor self = in.tensor("self");
    const double other = in.real("other");
    return {mapped(self, ScalarKind::Bool, [other](const Scalar& x) {
        // A number that the type does not hold equals none of its values.
        const ScalarKind work =
            isFloating(x->type) || x->type == ScalarKind::Bool ? x->type : ScalarKind::Double;
        const Scalar left = converted(x, work == ScalarKind::Bool ? ScalarKind::Double : work);
        return isEqual(left, constantLike(left, other));
    })};
}

Results bitwiseNot(Lowering& in) {
    const Tensor self = in.tensor("self");
    if (self.element == ScalarKind::Bool)
        return {
            mapped(self, self.element, [](const Scalar& x) { return applied(Function::Not, x); })};
    return {
        mapped(self, self.element, [](const Scalar& x) { return minus(constantLike(x, -1), x); })};
}

Results maskedFill(Lowering& in) {
    const Tensor self = in.tensor("self");
    const double value = in.real("value");
    return {zipped({self, in.tensor("mask")}, self.element, [value](const Values& x) {
        return select(x[1], constantLike(x[0], value), x[0]);
    })};
}

Results convert(Lowering& in) {
    return {analysis::raise::convertedTensor(in.tensor("self"), in.resultType())};
}

Results power(Lowering& in) {
    const double exponent = in.real("exponent");
    return unary(in, [exponent](const Scalar& x) {
        if (exponent == 2)
            return times(x, x);
        if (exponent == 3)
            return times(times(x, x), x);
        if (exponent == 0.5)
            return applied(Function::SquareRoot, x);
        return applied(Function::Power, x, constantLike(x, exponent));
    });
}

/// A bound is a number, a tensor or None.
Results clamp(Lowering& in) {
    const ScalarKind type = in.resultType();
    const ScalarKind work = computedIn(type);
    Tensor result = in.tensor("self");
    const auto bounded = [&](const char* parameter, Function function) {
        if (in.isNone(parameter))
            return;
        result = zipped({result, in.operand(parameter)}, type, [=](const Values& x) {
            return converted(applied(function, converted(x[0], work), converted(x[1], work)), type);
        });
    };
    bounded("min", Function::Maximum);
    bounded("max", Function::Minimum);
    return {result};
}
Results clampMin(Lowering& in) {
    const double bound = in.real("min");
    return unary(in, [bound](const Scalar& x) { return atLeast(x, bound); });
}
Results hardtanh(Lowering& in) {
    const double low = in.real("min_val");
    const double high = in.real("max_val");
    return unary(in, [=](const Scalar& x) { return atMost(atLeast(x, low), high); });
}
Results relu(Lowering& in) {
    return unary(in, [](const Scalar& x) { return atLeast(x, 0); });
}

Scalar sigmoidOf(const Scalar& x) {
    return over(
        constantLike(x, 1),
        plus(constantLike(x, 1), applied(Function::Exponential, applied(Function::Negate, x))));
}
Results sigmoid(Lowering& in) {
    return unary(in, sigmoidOf);
}

Results gelu(Lowering& in) {
    if (in.text("approximate") == "tanh")
        return unary(in, [](const Scalar& x) {
            const Scalar cubed = times(times(times(x, x), x), 0.044715);
            const Scalar inner =
                times(plus(x, cubed), std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
            return times(times(x, 0.5), plus(applied(Function::Tanh, inner), 1));
        });
    return unary(in, [](const Scalar& x) {
        const Scalar error = applied(Function::ErrorFunction, times(x, std::numbers::sqrt2 / 2));
        return times(times(x, 0.5), plus(error, 1));
    });
}

Scalar softplusOf(const Scalar& x, double beta, double threshold) {
    const Scalar scaled = times(x, beta);
    const Scalar logarithm =
        applied(Function::LogarithmOfOnePlus, applied(Function::Exponential, scaled));
    return select(isAbove(scaled, threshold), x, over(logarithm, beta));
}
Results softplus(Lowering& in) {
    const double beta = in.real("beta");
    const double threshold = in.real("threshold");
    return unary(in, [=](const Scalar& x) { return softplusOf(x, beta, threshold); });
}
Results mish(Lowering& in) {
    return unary(in, [](const Scalar& x) {
        return times(x, applied(Function::Tanh, softplusOf(x, 1, 20)));
    });
}

/// scale * (x above 0, alpha * (exp(x) - 1) else).
Scalar eluOf(const Scalar& x, double alpha, double scale, double inputScale) {
    const Scalar below =
        times(applied(Function::ExponentialMinusOne, times(x, inputScale)), alpha * scale);
    return select(isAbove(x, 0), times(x, scale), below);
}
Results elu(Lowering& in) {
    const double alpha = in.real("alpha");
    const double scale = in.real("scale");
    const double inputScale = in.real("input_scale");
    return unary(in, [=](const Scalar& x) { return eluOf(x, alpha, scale, inputScale); });
}
Results selu(Lowering& in) {
    // The constants of the paper that PyTorch names.
    return unary(in, [](const Scalar& x) {
        return eluOf(x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1);
    });
}

Results leakyRelu(Lowering& in) {
    const double slope = in.real("negative_slope");
    return unary(in,
                 [slope](const Scalar& x) { return select(isAbove(x, 0), x, times(x, slope)); });
}
Scalar hardSigmoidOf(const Scalar& x) {
    return over(atMost(atLeast(plus(x, 3), 0), 6), 6);
}
Results hardSigmoid(Lowering& in) {
    return unary(in, hardSigmoidOf);
}
Results hardSwish(Lowering& in) {
    return unary(
        in, [](const Scalar& x) { return over(times(x, atMost(atLeast(plus(x, 3), 0), 6)), 6); });
}

constexpr std::array elementwiseTable = {
    Rule{"aten.abs.default", plain<Function::Absolute>},
    Rule{"aten.add.Tensor", add},
    Rule{"aten.bitwise_not.default", bitwiseNot},
    Rule{"aten.clamp.Tensor", clamp},
    Rule{"aten.clamp.default", clamp},
    Rule{"aten.clamp_min.default", clampMin},
    Rule{"aten.div.Tensor", divide},
    Rule{"aten.elu.default", elu},
    Rule{"aten.eq.Scalar", equal},
    Rule{"aten.exp.default", plain<Function::Exponential>},
    Rule{"aten.gelu.default", gelu},
    Rule{"aten.hardsigmoid.default", hardSigmoid},
    Rule{"aten.hardswish.default", hardSwish},
    Rule{"aten.hardtanh.default", hardtanh},
    Rule{"aten.leaky_relu.default", leakyRelu},
    Rule{"aten.log.default", plain<Function::Logarithm>},
    Rule{"aten.masked_fill.Scalar", maskedFill},
    Rule{"aten.min.other", minimum},
    Rule{"aten.mish.default", mish},
    Rule{"aten.mul.Tensor", multiply},
    Rule{"aten.multiply.Tensor", multiply},
    Rule{"aten.pow.Tensor_Scalar", power},
    Rule{"aten.relu.default", relu},
    Rule{"aten.rsub.Scalar", subtractFrom},
    Rule{"aten.selu.default", selu},
    Rule{"aten.sigmoid.default", sigmoid},
    Rule{"aten.softplus.default", softplus},
    Rule{"aten.sqrt.default", plain<Function::SquareRoot>},
    Rule{"aten.sub.Tensor", subtract},
    Rule{"aten.tanh.default", plain<Function::Tanh>},
    Rule{"aten.to.dtype", convert},
};

} // namespace

std::span<const Rule> elementwiseRules() {
    return elementwiseTable;
}

} // namespace kernelskill::engine::graph
