#include "engine/execution/emulator/pin_example.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::engine::emulator {

namespace {

/// The example's extent for a buffer without one.
constexpr std::uint64_t exampleElements = 4096;

std::string spelled(const Dim3& dim) {
    if (dim.z > 1)
        return fmt::format("dim3({}, {}, {})", dim.x, dim.y, dim.z);
    return dim.y > 1 ? fmt::format("dim3({}, {})", dim.x, dim.y) : fmt::format("{}", dim.x);
}

std::string fillOf(const BufferSpec& buffer) {
    switch (buffer.fill) {
    case Fill::Zero:
        return "zero";
    case Fill::Iota:
        return "iota";
    case Fill::Constant:
        return fmt::format("{:.15g}", buffer.value);
    default:
        return "rand";
    }
}

std::string spelled(const ArgumentSpec& argument) {
    if (const auto* scalar = std::get_if<ScalarSpec>(&argument)) {
        if (scalar->integer)
            return fmt::format("{}={}", scalar->name, *scalar->integer);
        return scalar->floating ? fmt::format("{}={:g}", scalar->name, *scalar->floating) : "";
    }
    const auto& buffer = std::get<BufferSpec>(argument);
    const std::string range = buffer.fill == Fill::Random && buffer.integerRange > 0
                                  ? fmt::format(", 0..{}", buffer.integerRange)
                                  : "";
    return fmt::format("{}={}[{}{}]", buffer.name, fillOf(buffer),
                       buffer.elements.value_or(exampleElements), range);
}

} // namespace

bool hasGuessedInputs(const LaunchSpec& launch) {
    return launch.origin == LaunchOrigin::Guessed ||
           std::any_of(
               launch.arguments.begin(), launch.arguments.end(), [&](const ArgumentSpec& argument) {
                   const auto* buffer = std::get_if<BufferSpec>(&argument);
                   return buffer != nullptr && buffer->isInput && buffer->fill != Fill::Captured &&
                          launch.origin != LaunchOrigin::Pinned;
               });
}

std::string pinExample(const LaunchSpec& launch) {
    std::string templateArguments;
    for (const std::string& argument : launch.templateArguments)
        templateArguments += (templateArguments.empty() ? "" : ", ") + argument;
    std::string arguments;
    for (const ArgumentSpec& argument : launch.arguments) {
        const std::string text = spelled(argument);
        if (!text.empty())
            arguments += (arguments.empty() ? "" : ", ") + text;
    }
    return fmt::format(
        "kernelskill: launch {}{}<<<{}, {}{}>>>({})", launch.kernel,
        templateArguments.empty() ? "" : "<" + templateArguments + ">", spelled(launch.grid),
        spelled(launch.block),
        launch.dynamicSharedBytes > 0 ? fmt::format(", {}", launch.dynamicSharedBytes) : "",
        arguments);
}

} // namespace kernelskill::engine::emulator
