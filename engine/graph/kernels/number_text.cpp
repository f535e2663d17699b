#include "engine/graph/kernels/number_text.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>

namespace kernelskill::engine::graph {

using analysis::raise::Reducer;
using analysis::raise::ScalarNode;

ScalarKind computedType(ScalarKind type) {
    return type == ScalarKind::Half || type == ScalarKind::BFloat16 ? ScalarKind::Float : type;
}

std::string numberText(ScalarKind type, const ScalarNode& number) {
    if (type == ScalarKind::Bool)
        return number.integer != 0 ? "true" : "false";
    if (!analysis::raise::isFloating(type))
        return std::abs(number.integer) > (std::int64_t{1} << 31) - 1
                   ? fmt::format("{}LL", number.integer)
                   : std::to_string(number.integer);
    const double value = number.number;
    if (std::isnan(value))
        return "NAN";
    if (std::isinf(value))
        return value > 0 ? "INFINITY" : "-INFINITY";
    const bool isDouble = type == ScalarKind::Double;
    std::string text =
        isDouble ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
    if (text.find_first_of(".en") == std::string::npos)
        text += ".0";
    // A number that is finite as a double may be infinite as a float.
    if (!isDouble && std::isinf(static_cast<float>(value)))
        return value > 0 ? "INFINITY" : "-INFINITY";
    return text + (isDouble ? "" : "f");
}

std::string neutralText(Reducer reducer, ScalarKind type) {
    const ScalarKind work = computedType(type);
    const auto lowest = [&](bool isHigh) -> std::string {
        switch (work) {
        case ScalarKind::Bool:
            return isHigh ? "true" : "false";
        case ScalarKind::UInt8:
            return isHigh ? "255" : "0";
        case ScalarKind::Char:
            return isHigh ? "127" : "-128";
        case ScalarKind::Int16:
            return isHigh ? "32767" : "-32768";
        case ScalarKind::Int32:
            return isHigh ? "2147483647" : "(-2147483647 - 1)";
        case ScalarKind::Int64:
            return isHigh ? "9223372036854775807LL" : "(-9223372036854775807LL - 1)";
        default:
            return isHigh ? "INFINITY" : "-INFINITY";
        }
    };
    switch (reducer) {
    case Reducer::Sum:
        return numberText(work, *analysis::raise::number(work, 0));
    case Reducer::Product:
        return numberText(work, *analysis::raise::number(work, 1));
    case Reducer::Maximum:
    case Reducer::FirstMaximum:
        return lowest(false);
    case Reducer::Minimum:
    case Reducer::FirstMinimum:
        return lowest(true);
    }
    return "0";
}

} // namespace kernelskill::engine::graph
