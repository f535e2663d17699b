/// Sizes of a launch whose host code computes nothing: literals, numbers from a file, a capture.
#pragma once

#include "engine/execution/job.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Which numbers of a launch follow from its integer arguments, as far as the numbers themselves
/// tell: 196 blocks of 256 threads for n = 50,000. That may be a coincidence, so a launch of
/// another size says something only where the kernel runs cleanly on it.
class SizeRelations {
public:
    using Extents = std::map<std::string, std::int64_t>;

    explicit SizeRelations(const LaunchSpec& launch);

    /// The arguments that the grid or a buffer follows, with their values; empty if the grid
    /// follows none, or if the data come from a program.
    [[nodiscard]] const Extents& extents() const { return extents_; }
    /// The launch with these values, its grid and buffers recomputed; nullopt if that is not valid.
    [[nodiscard]] std::optional<LaunchSpec> at(const Extents& extents) const;
    /// The number of positions that `launch`, one of these relations, has along the axis, where
    /// each has a thread of its own; 0 where that is not so.
    [[nodiscard]] std::int64_t positions(std::size_t axis, const LaunchSpec& launch) const;

private:
    /// Indices of arguments whose values are multiplied.
    using Product = std::vector<std::size_t>;
    struct GridRule {
        Product product;
        std::int64_t divisor = 1; ///< The grid is the product over it, rounded up.
    };
    struct BufferRule {
        Product product;
        std::int64_t factor = 1;
    };

    [[nodiscard]] std::int64_t valueOf(const Product& product, const LaunchSpec& launch) const;
    [[nodiscard]] std::vector<Product> products() const;
    [[nodiscard]] std::optional<GridRule> ruleFor(std::int64_t blocks, std::int64_t threads) const;
    [[nodiscard]] std::optional<BufferRule> ruleFor(std::uint64_t elements) const;
    void note(const Product& product);

    LaunchSpec launch_;
    std::array<std::optional<GridRule>, 3> grid_;
    std::map<std::size_t, BufferRule> buffers_; ///< By the argument's index.
    Extents extents_;
};

} // namespace kernelskill::engine
