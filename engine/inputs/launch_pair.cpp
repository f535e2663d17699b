#include "engine/inputs/launch_pair.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::engine {
namespace {

const std::string& nameOf(const ArgumentSpec& argument) {
    return std::visit([](const auto& spec) -> const std::string& { return spec.name; }, argument);
}

const ArgumentSpec* argumentNamed(const LaunchSpec& launch, const std::string& name) {
    auto found = std::ranges::find(launch.arguments, name, nameOf);
    return found == launch.arguments.end() ? nullptr : &*found;
}

bool haveSameSizes(const LaunchSpec& original, const LaunchSpec& candidate) {
    return std::ranges::all_of(candidate.arguments, [&](const ArgumentSpec& argument) {
        const auto* ours = std::get_if<ScalarSpec>(&argument);
        const ArgumentSpec* same = argumentNamed(original, nameOf(argument));
        const auto* theirs = same == nullptr ? nullptr : std::get_if<ScalarSpec>(same);
        // An argument that only the candidate has follows from the sizes.
        return ours == nullptr || same == nullptr ||
               (theirs != nullptr && ours->integer == theirs->integer);
    });
}

/// `same`, with no more elements than the candidate's program allocates.
ArgumentSpec withOwnRoom(const ArgumentSpec& own, ArgumentSpec same) {
    const auto* room = std::get_if<BufferSpec>(&own);
    auto* buffer = std::get_if<BufferSpec>(&same);
    if (room != nullptr && buffer != nullptr && room->elements && buffer->elements)
        buffer->elements = std::min(*room->elements, *buffer->elements);
    return same;
}

/// `grid` times the quotient of `larger` and `smaller` along each axis, rounded up.
Dim3 scaledGrid(const Dim3& grid, const Dim3& larger, const Dim3& smaller) {
    const auto scaled = [](std::uint64_t blocks, std::uint64_t by, std::uint64_t over) {
        return static_cast<std::uint32_t>((blocks * by + over - 1) / over);
    };
    return {scaled(grid.x, larger.x, smaller.x), scaled(grid.y, larger.y, smaller.y),
            scaled(grid.z, larger.z, smaller.z)};
}

} // namespace

bool isMadeFor(const LaunchSpec& candidate, const LaunchSpec& original) {
    return std::ranges::all_of(candidate.madeFor, [&](const auto& made) {
        const ArgumentSpec* passed = argumentNamed(original, made.first);
        const auto* scalar = passed == nullptr ? nullptr : std::get_if<ScalarSpec>(passed);
        return scalar == nullptr || scalar->integer == made.second;
    });
}

bool takesBuffersOf(const LaunchSpec& candidate, const LaunchSpec& original) {
    return std::ranges::all_of(candidate.arguments, [&](const ArgumentSpec& argument) {
        const ArgumentSpec* same = argumentNamed(original, nameOf(argument));
        return !std::holds_alternative<BufferSpec>(argument) ||
               (same != nullptr && std::holds_alternative<BufferSpec>(*same));
    });
}

bool takesNumbersOf(const LaunchSpec& candidate, const LaunchSpec& original) {
    return std::ranges::all_of(candidate.arguments, [&](const ArgumentSpec& argument) {
        return !std::holds_alternative<ScalarSpec>(argument) ||
               argumentNamed(original, nameOf(argument)) != nullptr;
    });
}

LaunchSpec withArgumentsOf(LaunchSpec candidate, const LaunchSpec& original) {
    for (ArgumentSpec& argument : candidate.arguments) {
        const ArgumentSpec* same = argumentNamed(original, nameOf(argument));
        if (same != nullptr && same->index() == argument.index())
            argument = *same;
    }
    for (SymbolSpec& symbol : candidate.symbols) {
        const auto same = std::ranges::find(original.symbols, symbol.name, &SymbolSpec::name);
        if (same != original.symbols.end())
            symbol = *same;
    }
    return candidate;
}

LaunchSpec withShapeOf(LaunchSpec candidate, const LaunchSpec& other) {
    candidate = withArgumentsOf(std::move(candidate), other);
    candidate.arguments = other.arguments;
    candidate.grid = other.grid;
    candidate.statedGrid.reset();
    candidate.block = other.block;
    candidate.dynamicSharedBytes = other.dynamicSharedBytes;
    return candidate;
}

void setInteger(ScalarSpec& scalar, std::int64_t value) {
    scalar.integer = value;
    for (std::size_t at = 0; at < scalar.bytes.size(); ++at)
        scalar.bytes[at] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * at));
}

double threadsOf(const LaunchSpec& launch) {
    return static_cast<double>(launch.grid.count()) * static_cast<double>(launch.block.count());
}

std::string labelOf(const LaunchSpec& launch) {
    std::string label;
    for (const ArgumentSpec& argument : launch.arguments) {
        const auto* scalar = std::get_if<ScalarSpec>(&argument);
        if (scalar != nullptr && scalar->integer)
            label +=
                fmt::format("{}{}={}", label.empty() ? "" : ", ", scalar->name, *scalar->integer);
    }
    if (label.empty())
        label = fmt::format("grid {}x{}x{}", launch.grid.x, launch.grid.y, launch.grid.z);
    return label;
}

std::optional<LaunchSpec> paired(const LaunchSpec& original, LaunchSpec candidate,
                                 bool isLaunched) {
    if (!isMadeFor(candidate, original))
        return std::nullopt;
    bool isGuess =
        original.origin == LaunchOrigin::Guessed || candidate.origin == LaunchOrigin::Guessed;
    // A guess follows the kernel's text, which the edit changed; the callers of a kernel without a
    // launch did not. A launch in the file is part of the edit: from the same sizes its own
    // expressions say the grid.
    if (isGuess && !(isLaunched && haveSameSizes(original, candidate))) {
        // A number that only the candidate passes follows from its own sizes, which differ here.
        if (isLaunched && !takesNumbersOf(candidate, original))
            return std::nullopt;
        candidate.grid = original.grid;
        candidate.block = original.block;
        candidate.dynamicSharedBytes = original.dynamicSharedBytes;
    } else if (original.statedGrid || candidate.statedGrid) {
        // The edit may have changed the bounds that the guess follows: what the host's code asks
        // for says how the two launches differ.
        candidate.grid = candidate.statedGrid.value_or(candidate.grid);
        if (original.statedGrid)
            candidate.grid = scaledGrid(candidate.grid, original.grid, *original.statedGrid);
        candidate.statedGrid.reset();
    }
    for (ArgumentSpec& argument : candidate.arguments) {
        const ArgumentSpec* same = argumentNamed(original, nameOf(argument));
        if (same == nullptr)
            continue;
        if (isGuess || std::holds_alternative<BufferSpec>(*same))
            argument = withOwnRoom(argument, *same);
        else if (const auto* ours = std::get_if<ScalarSpec>(&argument);
                 ours != nullptr && ours->integer != std::get<ScalarSpec>(*same).integer)
            return std::nullopt;
    }
    return candidate;
}

} // namespace kernelskill::engine
