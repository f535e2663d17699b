#include "engine/inputs/pointer_shift.h"

#include "analysis/queries/address_use.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine {

using analysis::ExpressionKind;

namespace {

/// The alignment of cudaMalloc.
constexpr std::int64_t allocationAlignment = 256;
constexpr std::size_t maxShiftedAlone = 4;

bool computesWithAddresses(const analysis::FunctionBody& body) {
    for (analysis::ExprId id = 0; id < body.exprs.size(); ++id)
        if (analysis::isAddressAsNumber(body, id))
            return true;
    return false;
}

std::optional<std::int64_t> integerOf(const analysis::Expression& expression,
                                      const HostScope& scope) {
    const auto value = analysis::evaluate(expression, scope);
    return value && !value->isFloating ? std::optional(value->integer) : std::nullopt;
}

/// 0 for the pointer itself: a name, a member, or one of an array of pointers.
std::optional<std::int64_t> offsetIn(const analysis::Expression& expression,
                                     const HostScope& scope) {
    const auto& parts = expression.children;
    switch (expression.kind) {
    case ExpressionKind::Name:
    case ExpressionKind::Member:
    case ExpressionKind::Subscript:
        return 0;
    case ExpressionKind::Cast:
        return parts.size() == 1 ? offsetIn(parts[0], scope) : std::nullopt;
    case ExpressionKind::Unary:
        return expression.text == "&" && parts.at(0).kind == ExpressionKind::Subscript
                   ? integerOf(parts[0].children.at(1), scope)
                   : std::nullopt;
    case ExpressionKind::Binary: {
        if (expression.text != "+" && expression.text != "-")
            return std::nullopt;
        // The side without a value is the pointer.
        const bool isFirst = !integerOf(parts.at(0), scope);
        const auto pointer = offsetIn(parts.at(isFirst ? 0 : 1), scope);
        const auto added = integerOf(parts.at(isFirst ? 1 : 0), scope);
        if (!pointer || !added)
            return std::nullopt;
        return expression.text == "+" ? *pointer + *added : *pointer - *added;
    }
    default:
        return std::nullopt;
    }
}

} // namespace

std::optional<std::int64_t> pointerOffset(const std::vector<analysis::Token>& tokens,
                                          std::size_t begin, std::size_t end,
                                          const HostScope& scope) {
    const auto expression = analysis::parseExpression(tokens, begin, end);
    return expression ? offsetIn(*expression, scope) : std::nullopt;
}

std::uint32_t shiftOf(std::int64_t offset, std::uint32_t elementBytes) {
    if (elementBytes == 0 || allocationAlignment % elementBytes != 0)
        return 0;
    const std::int64_t elements = allocationAlignment / elementBytes;
    return static_cast<std::uint32_t>((offset % elements + elements) % elements);
}

bool usesAddresses(KernelInFile kernel) {
    return computesWithAddresses(kernel.kernel.body) ||
           std::ranges::any_of(kernel.file.deviceFunctions, [](const auto& function) {
               return computesWithAddresses(function.body);
           });
}

std::vector<LaunchSpec> withShiftedBuffers(const LaunchSpec& launch) {
    std::vector<std::size_t> shiftable;
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
        const auto* buffer = std::get_if<BufferSpec>(&launch.arguments[i]);
        if (buffer != nullptr && !buffer->captured && buffer->sameAs.empty())
            shiftable.push_back(i);
    }
    std::vector<LaunchSpec> shifted;
    const auto add = [&](const std::vector<std::size_t>& positions) {
        LaunchSpec& made = shifted.emplace_back(launch);
        for (const std::size_t position : positions)
            ++std::get<BufferSpec>(made.arguments[position]).shift;
    };
    if (!shiftable.empty())
        add(shiftable);
    if (shiftable.size() > 1)
        for (std::size_t i = 0; i < std::min(shiftable.size(), maxShiftedAlone); ++i)
            add({shiftable[i]});
    return shifted;
}

} // namespace kernelskill::engine
