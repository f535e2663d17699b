#include "engine/graph/torch/program_shapes.h"

#include "engine/graph/extent_expression.h"
#include "engine/graph/torch/bound_inputs.h"

#include <utility>

namespace kernelskill::engine::graph {
namespace {

std::optional<std::int64_t> exportedValue(const Program& program, const std::string& symbol) {
    for (const auto& [name, type] : program.values)
        for (const Extent& extent : type.sizes)
            if (extent.expression == symbol && extent.value >= 0)
                return extent.value;
    for (const auto& [name, extent] : program.symbolicInts)
        if (extent.expression == symbol && extent.value >= 0)
            return extent.value;
    return std::nullopt;
}

/// Whether every tensor of the program has extents for the symbols, none of them negative.
bool fits(const Program& program, const Symbols& symbols) {
    for (const auto& [name, type] : program.values) {
        const auto sizes = sizesAt(type, symbols);
        if (!sizes)
            return false;
        for (const std::int64_t size : *sizes)
            if (size < 0)
                return false;
    }
    return true;
}

} // namespace

Result<Symbols> exportedSymbols(const Program& program) {
    Symbols symbols;
    for (const auto& [symbol, range] : program.symbols) {
        const auto value = exportedValue(program, symbol);
        if (!value)
            return std::unexpected(Error{ErrorKind::Unsupported,
                                         "no extent is the symbol " + symbol +
                                             " alone: its value is not known before a run",
                                         {},
                                         {}});
        symbols.emplace(symbol, *value);
    }
    return symbols;
}

std::optional<Symbols> otherSymbols(const Program& program, const Symbols& exported) {
    Symbols other = exported;
    bool isOther = false;
    for (auto& [symbol, value] : other) {
        const SymbolRange& range = program.symbols.at(symbol);
        const std::int64_t before = value;
        // An odd extent next to a usual one: tiles do not divide it.
        for (const std::int64_t candidate : {before + 1, before - 1}) {
            if (candidate < std::max<std::int64_t>(range.low, 1) ||
                (range.high && candidate > *range.high))
                continue;
            value = candidate;
            if (fits(program, other)) {
                isOther = true;
                break;
            }
            value = before;
        }
    }
    return isOther ? std::optional(std::move(other)) : std::nullopt;
}

Result<std::vector<std::int64_t>> sizesAt(const TensorType& type, const Symbols& symbols) {
    std::vector<std::int64_t> sizes;
    for (const Extent& extent : type.sizes) {
        const auto value = evaluateExtent(extent, symbols);
        if (!value)
            return std::unexpected(value.error());
        sizes.push_back(*value);
    }
    return sizes;
}

Values numbersAt(const Program& program, const Symbols& symbols) {
    Values values;
    for (const auto& [name, extent] : program.symbolicInts)
        if (const auto value = evaluateExtent(extent, symbols))
            values.insert_or_assign(name, *value);
    for (const Input& input : program.inputs)
        if (input.kind == Input::Kind::Fixed)
            bindFixed(input, values);
    return values;
}

} // namespace kernelskill::engine::graph
