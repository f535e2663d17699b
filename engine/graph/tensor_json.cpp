#include "engine/graph/tensor_json.h"

#include "analysis/source/json.h"
#include "analysis/source/try.h"
#include "engine/graph/extent_expression.h"
#include "engine/graph/tensor_extents.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::engine::graph {

using nlohmann::json;

namespace {

constexpr std::size_t maxRank = 64;

void addSymbols(const ExtentExpression& expression, SymbolRanges& symbols) {
    if (expression.kind == ExtentExpression::Kind::Symbol)
        symbols.try_emplace(expression.symbol);
    for (const ExtentExpression& operand : expression.operands)
        addSymbols(operand, symbols);
}

Result<std::vector<Extent>> readExtents(const json& object, const char* name,
                                        const std::string& where, SymbolRanges& symbols) {
    KERNELSKILL_TRY(const json* const array, requiredArray(object, name, where));
    if (array->size() > maxRank)
        return malformed(fmt::format("it has more than {} dimensions", maxRank), where);
    std::vector<Extent> extents;
    for (const json& element : *array) {
        KERNELSKILL_TRY(Extent extent, readExtent(element, where, symbols));
        extents.push_back(std::move(extent));
    }
    return extents;
}

} // namespace

Result<ElementType> readElementType(const json& value, const std::string& where) {
    KERNELSKILL_TRY(const std::int64_t number, integerOf(value, where));
    const auto type = static_cast<ElementType>(number);
    if (number < 0 || number > 255 || sizeOf(type) == 0)
        return malformed(fmt::format("the element type {} is not known", number), where);
    return type;
}

Result<Extent> readExtent(const json& value, const std::string& where, SymbolRanges& symbols) {
    KERNELSKILL_TRY(const UnionMember extent, unionOf(value, where));
    if (extent.kind == "as_int") {
        KERNELSKILL_TRY(const std::int64_t number, integerOf(*extent.value, where));
        return Extent{number, {}};
    }
    if (extent.kind != "as_expr")
        return malformed(fmt::format("an extent is '{}'", extent.kind), where);
    KERNELSKILL_TRY(const std::string text, requiredText(*extent.value, "expr_str", where));
    KERNELSKILL_TRY(const ExtentExpression expression, parseExtent(text, where));
    Extent found{-1, textOf(expression)};
    const json* const hint = member(*extent.value, "hint");
    if (const json* const number = hint == nullptr ? nullptr : member(*hint, "as_int")) {
        KERNELSKILL_TRY(found.value, integerOf(*number, where));
    }
    // An expression without symbols is a number.
    if (const auto fixed = evaluateExtent(expression, {}))
        return Extent{*fixed, {}};
    addSymbols(expression, symbols);
    return found;
}

Result<TensorType> readTensorType(const json& value, const std::string& where,
                                  SymbolRanges& symbols) {
    const json* const dtype = member(value, "dtype");
    if (dtype == nullptr)
        return malformed("it has no element type", where);
    TensorType type;
    KERNELSKILL_TRY(type.element, readElementType(*dtype, where));
    KERNELSKILL_TRY(type.sizes, readExtents(value, "sizes", where, symbols));
    KERNELSKILL_TRY(type.strides, readExtents(value, "strides", where, symbols));
    if (const json* const offset = member(value, "storage_offset")) {
        KERNELSKILL_TRY(type.offset, readExtent(*offset, where, symbols));
    }
    constexpr std::int64_t strided = 7;
    if (const json* const layout = member(value, "layout"); layout != nullptr && *layout != strided)
        return std::unexpected(Error{ErrorKind::Unsupported, "it is a sparse tensor", where,
                                     "export the program with dense tensors"});
    if (const std::string problem = extentProblem(type); !problem.empty())
        return malformed("it " + problem, where);
    return type;
}

} // namespace kernelskill::engine::graph
