#include "engine/review/host/host_value.h"

#include "analysis/model/integer_arithmetic.h"

#include <spdlog/fmt/fmt.h>

#include <functional>
#include <utility>

namespace kernelskill::engine {

using analysis::ScalarKind;

namespace {

std::optional<bool> compared(const std::string& op, std::int64_t left, std::int64_t right) {
    if (op == "<")
        return left < right;
    if (op == "<=")
        return left <= right;
    if (op == ">")
        return left > right;
    if (op == ">=")
        return left >= right;
    if (op == "==")
        return left == right;
    if (op == "!=")
        return left != right;
    return std::nullopt;
}

/// Does what converted() does for a certain value.
HostValue wrapped(HostValue value, const analysis::Type& type) {
    if (!value.integer || type.pointerDepth > 0 || type.isReference)
        return value;
    switch (type.scalar) {
    case ScalarKind::Int32:
        return integerValue(static_cast<std::int32_t>(*value.integer));
    case ScalarKind::UInt32:
        return integerValue(static_cast<std::uint32_t>(*value.integer));
    case ScalarKind::Int16:
        return integerValue(static_cast<std::int16_t>(*value.integer));
    case ScalarKind::UInt16:
        return integerValue(static_cast<std::uint16_t>(*value.integer));
    case ScalarKind::UInt8:
        return integerValue(static_cast<std::uint8_t>(*value.integer));
    case ScalarKind::Bool:
        return integerValue(*value.integer != 0 ? 1 : 0);
    case ScalarKind::Float:
        return termValue(fmt::format("float({})", *value.integer));
    case ScalarKind::Double:
        return termValue(fmt::format("double({})", *value.integer));
    case ScalarKind::UInt64:
        return *value.integer < 0 ? termValue(fmt::format("unsigned({})", *value.integer)) : value;
    default:
        return value;
    }
}

/// Does what combined() does for certain values.
HostValue result(const std::string& op, const HostValue& left, const HostValue& right) {
    if (left.integer && right.integer) {
        if (const auto truth = compared(op, *left.integer, *right.integer))
            return integerValue(*truth ? 1 : 0);
        if (const auto value = analysis::integerResult(op, *left.integer, *right.integer))
            return integerValue(*value);
    }
    if (left.term == right.term && !left.term.empty() && (op == "==" || op == "!="))
        return integerValue(op == "==" ? 1 : 0);
    HostValue value = termValue(fmt::format("({} {} {})", textOf(left), op, textOf(right)));
    // A pointer and a number: still the same object.
    if ((op == "+" || op == "-") && left.object.empty() != right.object.empty())
        value.object = left.object + right.object;
    return value;
}

} // namespace

HostValue integerValue(std::int64_t value) {
    return {std::to_string(value), value, {}, analysis::noId};
}

HostValue termValue(std::string term) {
    constexpr std::size_t maxLength = 240;
    if (term.size() > maxLength)
        term = fmt::format("{}...#{:016x}", term.substr(0, 24), std::hash<std::string>{}(term));
    return {std::move(term), std::nullopt, {}, analysis::noId};
}

std::string textOf(const HostValue& value) {
    if (value.extents.size() != 3)
        return value.term;
    return fmt::format("({}, {}, {})", value.extents[0].term, value.extents[1].term,
                       value.extents[2].term);
}

HostValue converted(HostValue value, const analysis::Type& type) {
    const bool isAssumed = value.isAssumed;
    HostValue result = wrapped(std::move(value), type);
    result.isAssumed = isAssumed;
    return result;
}

HostValue combined(const std::string& op, const HostValue& left, const HostValue& right) {
    HostValue value = result(op, left, right);
    value.isAssumed = left.isAssumed || right.isAssumed;
    return value;
}

} // namespace kernelskill::engine
