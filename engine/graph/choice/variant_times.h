/// The times of a place of a model, and the choice that followed from them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {

struct VariantTime {
    std::optional<double> microseconds; ///< The median of all rounds.
    double spread = 0; ///< The difference of the quartiles, as a share of the median.
    std::string why;   ///< Why it has no time.
};

/// A way to do the work of a place.
struct MeasuredVariant {
    std::string what; ///< "a library", "own kernels in TF32".
    VariantTime time;
    /// Why it is not exact enough, by the judge's words; empty if nothing says so.
    std::string refused = {};
};

struct PlaceMeasurement {
    std::vector<std::string> nodes; ///< The nodes that a library would run.
    /// "aten.conv2d.default of float32[16, 64, 56, 56], float32[64, 64, 3, 3]".
    std::string operation;
    std::vector<MeasuredVariant> variants;
    std::size_t chosen = 0;    ///< The number of the variant that the model has.
    bool isMeasured = false;   ///< If false, `chosen` is the default.
    bool isRemembered = false; ///< An earlier run measured it.
    std::string why;           ///< Why nothing was measured.
};

/// The times of a place's variants as text, for the long-term memory.
[[nodiscard]] std::string textOf(const std::vector<VariantTime>& times);
/// nullopt for another text.
[[nodiscard]] std::optional<std::vector<VariantTime>> variantTimesFrom(const std::string& text);

/// Returns the number of the variant to choose; nullopt if none has a time. Earlier ones are
/// preferred within a hundredth of the fastest.
[[nodiscard]] std::optional<std::size_t> preferredOf(const std::vector<VariantTime>& times);
/// Returns the numbers of all variants that have times: the one to choose, the one to choose
/// without it, and so on.
[[nodiscard]] std::vector<std::size_t> preferredOrder(std::vector<VariantTime> times);

} // namespace kernelskill::engine::graph
