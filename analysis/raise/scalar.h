/// A scalar is one element of a tensor, as an expression over elements of other tensors.
#pragma once

#include "analysis/raise/index.h"
#include "analysis/syntax/syntax.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::analysis::raise {

/// The number of a buffer in a program.
using BufferId = std::uint32_t;

/// The functions of scalars. A result has the type of its node, and so have the arguments, except
/// those of comparisons and of Convert. NaN passes through all of them, Minimum and Maximum
/// included, as in PyTorch.
enum class Function : std::uint8_t {
    Add,
    Subtract,
    Multiply,
    Divide, ///< Quotients of integers are rounded to zero.
    Negate,
    Absolute,
    Exponential,
    ExponentialMinusOne,
    Logarithm,
    LogarithmOfOnePlus,
    SquareRoot,
    ReciprocalSquareRoot,
    Tanh,
    ErrorFunction,
    Power,
    Minimum,
    Maximum,
    Less,
    LessOrEqual,
    Equal,
    And, ///< Takes truth values, as Not does.
    Not,
    Convert, ///< Converts to the node's type; fractions are cut off for integers.
};
/// "exp".
[[nodiscard]] std::string_view nameOf(Function function);

/// A node is made by the functions below and never changes.
struct ScalarNode {
    enum class Kind : std::uint8_t { Number, Position, Load, Accumulated, Call, Select };
    Kind kind = Kind::Number;
    ScalarKind type = ScalarKind::Float;
    double number = 0; ///< Set for a Number; `integer` holds those of more than 53 bits.
    std::int64_t integer = 0;
    Index index = {};                 ///< Set for a Position, whose value it is.
    BufferId buffer = 0;              ///< Set for a Load.
    std::vector<Index> position = {}; ///< Set for a Load: an index for each axis of the buffer.
    std::size_t reduction = 0;        ///< Set for Accumulated: the number of the reduction.
    Function function = Function::Add;
    std::vector<Scalar> arguments =
        {}; ///< Set for a Call, and for Select: condition, then, otherwise.
};

[[nodiscard]] Scalar number(ScalarKind type, double value);
[[nodiscard]] Scalar integerNumber(ScalarKind type, std::int64_t value);
[[nodiscard]] Scalar positionValue(ScalarKind type, const Index& index);
[[nodiscard]] Scalar load(ScalarKind type, BufferId buffer, std::vector<Index> position);
/// The result of a reduction of the computation that it stands in.
[[nodiscard]] Scalar accumulated(ScalarKind type, std::size_t reduction);
/// Computes at once what has numbers alone as arguments, where that is exact.
[[nodiscard]] Scalar call(ScalarKind type, Function function, std::vector<Scalar> arguments);
/// Only the chosen one is evaluated, so that a condition can guard a load.
[[nodiscard]] Scalar select(const Scalar& condition, const Scalar& then, const Scalar& otherwise);
[[nodiscard]] Scalar converted(const Scalar& value, ScalarKind type);
/// Whether 0 <= index < bound, as a truth value: the constant true where that is known.
[[nodiscard]] Scalar isInside(const Index& index, const Index& bound);

/// The number, if it is one.
[[nodiscard]] std::optional<double> numberOf(const Scalar& value);
[[nodiscard]] std::string textOf(const Scalar& value);
[[nodiscard]] bool mentions(const Scalar& value, std::uint32_t axis);
/// Replaces axes, named by their ids, by other indices.
[[nodiscard]] Scalar substituted(const Scalar& value, const std::map<std::uint32_t, Index>& axes);
/// Replaces each Load and Accumulated by what `replace` returns for it; null keeps it.
using Replacement = std::function<Scalar(const ScalarNode&)>;
[[nodiscard]] Scalar replaced(const Scalar& value, const Replacement& replace);
/// Calls `visit` for each node once, parents first.
void forEachNode(const Scalar& value, const std::function<void(const ScalarNode&)>& visit);

[[nodiscard]] bool isFloating(ScalarKind type);
/// "float".
[[nodiscard]] std::string_view spelling(ScalarKind type);

} // namespace kernelskill::analysis::raise
