#include "skills/block-reduction/fold_spelling.h"

#include "analysis/queries/value_spelling.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

std::string_view FoldSpelling::function() const {
    return fold_ == FoldKind::Minimum ? "min" : "max";
}

std::string FoldSpelling::folded(const std::string& value, const std::string& other) const {
    if (isOperator())
        return fmt::format("{} {} {}", value, assignment(), other);
    return fmt::format("{0} = {1}({0}, {2})", value, function(), other);
}

std::string FoldSpelling::neutral() const {
    switch (fold_) {
    case FoldKind::Minimum:
        return largestValue();
    case FoldKind::Maximum:
        return smallestValue();
    case FoldKind::BitAnd:
        return fmt::format("static_cast<{}>(-1)", element_);
    case FoldKind::Product:
        return literalOf(1, scalar_);
    default:
        return literalOf(0, scalar_);
    }
}

std::string FoldSpelling::conversion(const Type& type) const {
    const bool isFloating = type.scalar == ScalarKind::Float || type.scalar == ScalarKind::Double;
    const bool isHarmless =
        isOperator() && !isFloating && type.pointerDepth == 0 && type.scalar != ScalarKind::Unknown;
    return type.scalar == scalar_ || isHarmless ? "" : fmt::format("static_cast<{}>(", element_);
}

std::string FoldSpelling::largestValue() const {
    switch (scalar_) {
    case ScalarKind::Int32:
        return "0x7fffffff";
    case ScalarKind::UInt32:
        return "0xffffffffu";
    case ScalarKind::Int64:
        return "0x7fffffffffffffffll";
    default:
        return "0xffffffffffffffffull";
    }
}

std::string FoldSpelling::smallestValue() const {
    switch (scalar_) {
    case ScalarKind::Int32:
        return "-0x7fffffff - 1";
    case ScalarKind::Int64:
        return "-0x7fffffffffffffffll - 1";
    default:
        return "0";
    }
}

} // namespace kernelskill::skills
