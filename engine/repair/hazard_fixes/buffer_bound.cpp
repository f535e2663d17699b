#include "engine/repair/hazard_fixes/buffer_bound.h"

#include <algorithm>
#include <map>
#include <variant>

namespace kernelskill::engine {

using namespace analysis;

namespace {

template <typename Spec>
const Spec* argumentOf(const LaunchSpec& launch, const std::string& parameter) {
    for (const ArgumentSpec& argument : launch.arguments) {
        const auto* spec = std::get_if<Spec>(&argument);
        if (spec != nullptr && spec->name == parameter)
            return spec;
    }
    return nullptr;
}

/// The value of a constant, or of a parameter that never changes.
std::optional<std::int64_t> valueOf(const HazardCode& code, const LaunchSpec& launch, ExprId id) {
    if (id == noId)
        return 1;
    if (const auto constant = code.map().constantValue(id))
        return constant;
    const VariableId named = code.map().namedVariable(id);
    if (named == noId || code.body().variable(named).storage != Storage::Parameter ||
        code.map().isEverWritten(named))
        return std::nullopt;
    return integerOf(launch, code.body().variable(named).name);
}

std::int64_t axisOf(const Dim3& dim, std::uint32_t axis) {
    return axis == 0 ? dim.x : axis == 1 ? dim.y : dim.z;
}

} // namespace

std::optional<std::uint64_t> elementsOf(const LaunchSpec& launch, const std::string& parameter) {
    const auto* buffer = argumentOf<BufferSpec>(launch, parameter);
    return buffer == nullptr ? std::nullopt : buffer->elements;
}

std::optional<std::int64_t> integerOf(const LaunchSpec& launch, const std::string& parameter) {
    const auto* scalar = argumentOf<ScalarSpec>(launch, parameter);
    return scalar == nullptr ? std::nullopt : scalar->integer;
}

std::string boundOf(const HazardCode& code, const std::vector<LaunchSpec>& launches,
                    const std::string& buffer, ExprId width) {
    const VariableId widthVariable = width == noId ? noId : code.map().namedVariable(width);
    std::vector<std::string> fitting;
    for (const Parameter& parameter : code.kernel().parameters) {
        if (parameter.type.pointerDepth > 0 || parameter.variable == noId ||
            code.map().isEverWritten(parameter.variable))
            continue;
        const bool fits = std::ranges::all_of(launches, [&](const LaunchSpec& launch) {
            const auto length = elementsOf(launch, buffer);
            const auto bound = integerOf(launch, parameter.name);
            const auto factor = valueOf(code, launch, width);
            return length && bound && factor && *bound > 0 && *factor > 0 &&
                   static_cast<std::uint64_t>(*bound) * static_cast<std::uint64_t>(*factor) ==
                       *length;
        });
        if (fits)
            fitting.push_back(parameter.name);
    }
    // For a square matrix, use the other side.
    if (fitting.size() == 2 && widthVariable != noId)
        std::erase(fitting, code.body().variable(widthVariable).name);
    return fitting.size() == 1 ? fitting.front() : "";
}

std::optional<std::uint32_t> accessTouching(const HazardCode& code, const LaunchSpec& launch,
                                            const Dim3& block, const Dim3& thread,
                                            std::int64_t element,
                                            const std::vector<std::uint32_t>& candidates) {
    std::map<Symbol, std::int64_t> values;
    for (std::uint32_t axis = 0; axis < 3; ++axis) {
        values[{SymbolKind::ThreadIdx, axis}] = axisOf(thread, axis);
        values[{SymbolKind::BlockIdx, axis}] = axisOf(block, axis);
        values[{SymbolKind::BlockDim, axis}] = axisOf(launch.block, axis);
        values[{SymbolKind::GridDim, axis}] = axisOf(launch.grid, axis);
    }
    for (const Parameter& parameter : code.kernel().parameters) {
        if (const auto value = integerOf(launch, parameter.name))
            values[{SymbolKind::Parameter, parameter.variable}] = *value;
    }
    std::vector<std::uint32_t> possible;
    for (const std::uint32_t candidate : candidates) {
        const auto& index = code.kernel().accesses[candidate].index;
        const auto value = index ? index->evaluate(values) : std::nullopt;
        if (!value || *value == element)
            possible.push_back(candidate);
    }
    if (possible.empty())
        return std::nullopt;
    // A store of a value loaded from the same place accesses it twice.
    const bool areSame = std::ranges::all_of(possible, [&](std::uint32_t other) {
        return code.map().sameExpression(code.kernel().accesses[other].expression,
                                         code.kernel().accesses[possible.front()].expression);
    });
    return areSame ? std::optional(possible.front()) : std::nullopt;
}

} // namespace kernelskill::engine
