#include "engine/inputs/size_relations.h"

#include "engine/inputs/launch_pair.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace kernelskill::engine {
namespace {

/// Smaller numbers agree by chance too often.
constexpr std::int64_t minExtent = 4;
constexpr std::int64_t minBlocks = 2;
constexpr std::size_t maxFactors = 3;
constexpr std::size_t maxScalars = 6;
/// Elements of a buffer for each position: the fields of a vector, say.
constexpr std::int64_t maxElementsEach = 8;
constexpr std::int64_t maxGrid = std::numeric_limits<std::int32_t>::max();

std::int64_t dividedUp(std::int64_t value, std::int64_t divisor) {
    return value / divisor + (value % divisor != 0 ? 1 : 0);
}

/// Whether the argument's type holds the value.
bool holds(const ScalarSpec& scalar, std::int64_t value) {
    const std::size_t bits = 8 * scalar.bytes.size();
    return value >= 1 && bits > 0 && (bits >= 64 || value < (std::int64_t{1} << (bits - 1)));
}

const ScalarSpec* extentIn(const ArgumentSpec& argument) {
    const auto* scalar = std::get_if<ScalarSpec>(&argument);
    const bool isExtent = scalar != nullptr && scalar->integer && *scalar->integer >= minExtent &&
                          scalar->bytes.size() <= sizeof(std::int64_t);
    return isExtent ? scalar : nullptr;
}

} // namespace

SizeRelations::SizeRelations(const LaunchSpec& launch) : launch_(launch) {
    const bool isCaptured = std::ranges::any_of(launch.arguments, [](const ArgumentSpec& argument) {
        const auto* buffer = std::get_if<BufferSpec>(&argument);
        return buffer != nullptr && buffer->fill == Fill::Captured;
    });
    if (isCaptured)
        return;
    const std::array blocks{launch.grid.x, launch.grid.y, launch.grid.z};
    const std::array threads{launch.block.x, launch.block.y, launch.block.z};
    for (std::size_t axis = 0; axis < grid_.size(); ++axis) {
        if (blocks.at(axis) >= minBlocks)
            grid_.at(axis) = ruleFor(blocks.at(axis), threads.at(axis));
        if (grid_.at(axis))
            note(grid_.at(axis)->product);
    }
    if (extents_.empty())
        return;
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
        const auto* buffer = std::get_if<BufferSpec>(&launch.arguments[i]);
        if (buffer == nullptr || !buffer->elements)
            continue;
        if (auto rule = ruleFor(*buffer->elements)) {
            note(rule->product);
            buffers_.emplace(i, std::move(*rule));
        }
    }
}

void SizeRelations::note(const Product& product) {
    for (const std::size_t i : product) {
        const auto& scalar = std::get<ScalarSpec>(launch_.arguments[i]);
        extents_.emplace(scalar.name, *scalar.integer);
    }
}

std::int64_t SizeRelations::valueOf(const Product& product, const LaunchSpec& launch) const {
    std::int64_t value = 1;
    for (const std::size_t i : product) {
        const std::int64_t factor = *std::get<ScalarSpec>(launch.arguments[i]).integer;
        if (factor > std::numeric_limits<std::int64_t>::max() / value)
            return std::numeric_limits<std::int64_t>::max();
        value *= factor;
    }
    return value;
}

/// All products of the integer arguments, those of fewer factors first.
std::vector<SizeRelations::Product> SizeRelations::products() const {
    std::vector<std::size_t> scalars;
    for (std::size_t i = 0; i < launch_.arguments.size() && scalars.size() < maxScalars; ++i) {
        if (extentIn(launch_.arguments[i]) != nullptr)
            scalars.push_back(i);
    }
    std::vector<Product> result;
    for (unsigned chosen = 1; chosen < 1u << scalars.size(); ++chosen) {
        Product product;
        for (std::size_t i = 0; i < scalars.size(); ++i) {
            if ((chosen >> i & 1u) != 0)
                product.push_back(scalars[i]);
        }
        if (product.size() <= maxFactors)
            result.push_back(std::move(product));
    }
    std::ranges::stable_sort(result, {}, &Product::size);
    return result;
}

std::optional<SizeRelations::GridRule> SizeRelations::ruleFor(std::int64_t blocks,
                                                              std::int64_t threads) const {
    // A thread for each, a block for each, several for each thread, a warp for each, tiles.
    std::vector<std::int64_t> divisors{threads,     1,           2 * threads,
                                       4 * threads, 8 * threads, 16 * threads};
    for (const std::int64_t lanes : {32, 16, 8}) {
        if (threads > lanes && threads % lanes == 0)
            divisors.push_back(threads / lanes);
    }
    divisors.insert(divisors.end(), {32, 16, 64, 128});
    const auto all = products();
    for (const std::int64_t divisor : divisors) {
        for (const Product& product : all) {
            if (dividedUp(valueOf(product, launch_), divisor) == blocks)
                return GridRule{product, divisor};
        }
    }
    return std::nullopt;
}

std::optional<SizeRelations::BufferRule> SizeRelations::ruleFor(std::uint64_t elements) const {
    for (const Product& product : products()) {
        const auto value = static_cast<std::uint64_t>(valueOf(product, launch_));
        if (elements % value == 0 && elements / value <= maxElementsEach)
            return BufferRule{product, static_cast<std::int64_t>(elements / value)};
    }
    return std::nullopt;
}

std::int64_t SizeRelations::positions(std::size_t axis, const LaunchSpec& launch) const {
    const std::array threads{launch.block.x, launch.block.y, launch.block.z};
    const auto& rule = grid_.at(axis);
    return rule && rule->divisor == threads.at(axis) ? valueOf(rule->product, launch) : 0;
}

std::optional<LaunchSpec> SizeRelations::at(const Extents& extents) const {
    LaunchSpec launch = launch_;
    launch.statedGrid.reset();
    for (ArgumentSpec& argument : launch.arguments) {
        auto* scalar = std::get_if<ScalarSpec>(&argument);
        const auto wanted = scalar == nullptr ? extents.end() : extents.find(scalar->name);
        if (wanted == extents.end() || !extents_.contains(wanted->first))
            continue;
        if (!holds(*scalar, wanted->second))
            return std::nullopt;
        setInteger(*scalar, wanted->second);
    }
    for (std::size_t axis = 0; axis < grid_.size(); ++axis) {
        if (!grid_.at(axis))
            continue;
        const std::int64_t blocks =
            dividedUp(valueOf(grid_.at(axis)->product, launch), grid_.at(axis)->divisor);
        if (blocks > maxGrid)
            return std::nullopt;
        (axis == 0   ? launch.grid.x
         : axis == 1 ? launch.grid.y
                     : launch.grid.z) = static_cast<std::uint32_t>(blocks);
    }
    for (const auto& [index, rule] : buffers_) {
        auto& buffer = std::get<BufferSpec>(launch.arguments[index]);
        const std::int64_t elements = valueOf(rule.product, launch);
        if (elements > std::numeric_limits<std::int64_t>::max() / maxElementsEach)
            return std::nullopt;
        buffer.elements = static_cast<std::uint64_t>(elements * rule.factor);
    }
    return launch;
}

} // namespace kernelskill::engine
