#include "engine/graph/torch/program_shapes.h"

#include "engine/graph/extent_expression.h"
#include "engine/graph/torch/bound_inputs.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine::graph {

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
            if (symbolProblem(program, other).empty()) {
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
