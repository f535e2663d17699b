/// Constant expressions in a text, e.g. those of an attribute, which clang keeps to itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// Values of a comma-separated list of constant expressions, e.g. of `__launch_bounds__(2 * WARP,
/// 4)`. Names are looked up in the `#define`s and constant definitions of `text`; nullopt for an
/// expression that is not constant.
[[nodiscard]] std::vector<std::optional<std::int64_t>> evaluateConstantList(std::string_view list,
                                                                            std::string_view text);

} // namespace kernelskill::analysis
