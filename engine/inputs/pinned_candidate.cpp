#include "engine/inputs/launch_candidates.h"
#include "engine/inputs/launch_text.h"
#include "engine/inputs/symbol_specs.h"

#include <algorithm>

namespace kernelskill::engine {

using analysis::Expression;
using analysis::ExpressionKind;
using analysis::Value;

void LaunchCandidates::pinSymbol(LaunchSpec& spec, const PinnedArgument& argument,
                                 const HostScope& scope) {
    std::erase_if(spec.symbols,
                  [&](const SymbolSpec& symbol) { return symbol.name == argument.parameter; });
    SymbolSpec symbol;
    symbol.name = argument.parameter;
    symbol.fill = argument.fill.value_or(Fill::Constant);
    symbol.value = argument.constant;
    if (argument.value)
        symbol.value =
            evaluate(*argument.value, scope).value_or(Value::of(std::int64_t{0})).asDouble();
    if (argument.range)
        symbol.integerRange =
            evaluate(*argument.range, scope).value_or(Value::of(std::int64_t{0})).asInteger();
    spec.symbols.push_back(std::move(symbol));
}

std::optional<LaunchCandidate> LaunchCandidates::pinned(const ParsedPin& pin,
                                                        const Overrides& overrides) const {
    auto values = settings(false, nullptr, overrides);
    const TextPlace place{0, program_.files().empty() ? 0 : program_.files().front().tokens.size(),
                          nullptr};
    const HostScope scope(program_, place, values);
    LaunchCandidate result;
    auto& spec = result.spec;
    spec.origin = LaunchOrigin::Pinned;
    spec.kernel = kernel_.qualifiedName;
    spec.templateArguments = pin.templateArguments;
    if (spec.templateArguments.size() < kernel_.templateParameters.size()) {
        const auto rest = templateArguments(sites_.empty() ? nullptr : &sites_.front());
        for (auto i = spec.templateArguments.size(); i < rest.size(); ++i)
            spec.templateArguments.push_back(rest[i]);
        if (!sites_.empty())
            spec.madeFor = madeFor(sites_.front(), spec.templateArguments);
    }
    std::vector<std::optional<Value>> scalars(kernel_.parameters.size());
    for (const auto& argument : pin.arguments) {
        const auto index = static_cast<std::size_t>(
            std::ranges::find(kernel_.parameters, argument.parameter, &analysis::Parameter::name) -
            kernel_.parameters.begin());
        if (index >= scalars.size() || !argument.value ||
            kernel_.parameters[index].type.pointerDepth > 0)
            continue;
        const auto given = overrides.find(argument.parameter);
        scalars[index] =
            given != overrides.end() ? Value::of(given->second) : evaluate(*argument.value, scope);
        if (!scalars[index] || scalars[index]->isFloating)
            continue;
        values.overrides[argument.parameter] = scalars[index]->integer;
        if (scalars[index]->integer >= 64)
            result.roots[argument.parameter] = scalars[index]->integer;
    }
    const auto extentOf = [&](const std::vector<Expression>& parts) -> std::optional<Extent> {
        Expression list{ExpressionKind::List, {}, {}, parts};
        return parts.size() == 1 ? scope.extent(parts.front()) : scope.extent(list);
    };
    const auto grid = extentOf(pin.grid);
    const auto block = extentOf(pin.block);
    const auto gridDim = grid ? dim3Of(*grid, 0x7fffffff) : std::nullopt;
    const auto blockDim = block ? dim3Of(*block, 1024) : std::nullopt;
    if (!gridDim || !blockDim || blockDim->count() > 1024)
        return std::nullopt;
    spec.grid = *gridDim;
    spec.block = *blockDim;
    if (pin.sharedBytes) {
        const auto shared = evaluate(*pin.sharedBytes, scope);
        spec.dynamicSharedBytes =
            shared ? static_cast<std::uint64_t>(std::max<std::int64_t>(shared->asInteger(), 0)) : 0;
    }
    spec.notes.emplace_back("pinned by a comment");
    passArguments(spec, scalars,
                  std::vector<std::optional<std::int64_t>>(kernel_.parameters.size()));
    for (const auto& argument : pin.arguments) {
        if (isDeviceVariable(program_, argument.parameter))
            pinSymbol(spec, argument, scope);
        for (auto& passed : spec.arguments) {
            auto* buffer = std::get_if<BufferSpec>(&passed);
            if (buffer == nullptr || buffer->name != argument.parameter)
                continue;
            buffer->fill = argument.fill.value_or(Fill::Constant);
            buffer->isInput = true;
            buffer->integerRange = 0;
            buffer->value = argument.constant;
            if (argument.value) // x=3: every element
                buffer->value = evaluate(*argument.value, scope)
                                    .value_or(Value::of(std::int64_t{0}))
                                    .asDouble();
            if (argument.elements) {
                const auto elements = evaluate(*argument.elements, scope);
                if (!elements || elements->asInteger() < 1)
                    return std::nullopt;
                buffer->elements = static_cast<std::uint64_t>(elements->asInteger());
            }
            if (argument.range)
                buffer->integerRange = evaluate(*argument.range, scope)
                                           .value_or(Value::of(std::int64_t{0}))
                                           .asInteger();
        }
    }
    return result;
}

} // namespace kernelskill::engine
