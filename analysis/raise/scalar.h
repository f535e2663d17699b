/// What one element of a tensor is: an expression over elements of other tensors.
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

/// What scalars are computed by. Results have the type of the node; arguments have its type, too,
/// but for comparisons and Convert. Nothing is a number (NaN) by itself: it passes through all of
/// these, Minimum and Maximum included, as in PyTorch.
enum class Function : std::uint8_t {
    Add,
    Subtract,
    Multiply,
    Divide, ///< Of integers: rounded to zero.
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
    Sine,
    Cosine,
    Power,
    Minimum,
    Maximum,
    Floor,
    Ceiling,
    Round, ///< To the nearest, halves to even.
    Truncate,
    Less,
    LessOrEqual,
    Equal,
    And, ///< Of truth values.
    Or,
    Not,
    Convert, ///< To the node's type: from numbers with a fraction to integers, to zero.
};
/// "exp".
[[nodiscard]] std::string_view nameOf(Function function);

/// A node is made by the functions below and never changes.
struct ScalarNode {
    enum class Kind : std::uint8_t { Number, Position, Load, Accumulated, Call, Select };
    Kind kind = Kind::Number;
    ScalarKind type = ScalarKind::Float;
    double number = 0; ///< Of a number; integers of more than 53 bits are in `integer`.
    std::int64_t integer = 0;
    Index index = {};                 ///< Of a position: its value is the index.
    BufferId buffer = 0;              ///< Of a load.
    std::vector<Index> position = {}; ///< Of a load, one index for each axis of the buffer.
    std::size_t reduction = 0;        ///< Of Accumulated: which of the computation's reductions.
    Function function = Function::Add;
    std::vector<Scalar> arguments = {}; ///< Of a call; of Select: condition, then, otherwise.
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
/// With other indices for axes, by their ids.
[[nodiscard]] Scalar substituted(const Scalar& value, const std::map<std::uint32_t, Index>& axes);
/// With another scalar for each Load and Accumulated; `replace` returns null to keep one.
using Replacement = std::function<Scalar(const ScalarNode&)>;
[[nodiscard]] Scalar replaced(const Scalar& value, const Replacement& replace);
/// Calls `visit` for each node once, parents first.
void forEachNode(const Scalar& value, const std::function<void(const ScalarNode&)>& visit);

[[nodiscard]] bool isFloating(ScalarKind type);
/// "float".
[[nodiscard]] std::string_view spelling(ScalarKind type);

} // namespace kernelskill::analysis::raise
