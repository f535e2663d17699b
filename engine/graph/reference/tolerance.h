/// How close the results of a model have to be to the reference's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kernelskill::engine::graph {

/// torch.allclose with rtol = atol, NaN equal to NaN. Where eager PyTorch is beyond it, a model may
/// be so, too.
enum class Tolerance : std::uint8_t {
    Loose, ///< 1e-2. Eager PyTorch has its defaults of TF32: in convolutions, not in products.
    Tight, ///< 1e-4. Eager PyTorch has no TF32.
};

inline constexpr double looseTolerance = 1e-2;
inline constexpr double tightTolerance = 1e-4;

/// The names of all tolerances, in options and requests.
inline constexpr std::array<std::string_view, 2> toleranceNames{"1e-2", "1e-4"};

[[nodiscard]] constexpr std::string_view nameOf(Tolerance tolerance) {
    return toleranceNames[static_cast<std::size_t>(tolerance)];
}

[[nodiscard]] constexpr std::optional<Tolerance> toleranceOf(std::string_view name) {
    for (const Tolerance tolerance : {Tolerance::Loose, Tolerance::Tight})
        if (nameOf(tolerance) == name)
            return tolerance;
    return std::nullopt;
}

} // namespace kernelskill::engine::graph
