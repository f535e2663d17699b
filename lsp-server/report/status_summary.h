/// Counts kernels by what became of them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kernelskill::lsp {

/// "3 kernels: 1 worse, 2 same": one status for each kernel, counted in this order.
[[nodiscard]] std::string statusSummary(std::span<const std::string_view> statuses,
                                        std::span<const std::string_view> order);

} // namespace kernelskill::lsp
