#include "lsp-server/report/status_summary.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::lsp {

std::string statusSummary(std::span<const std::string_view> statuses,
                          std::span<const std::string_view> order) {
    std::string parts;
    for (const std::string_view each : order)
        if (const auto count = std::ranges::count(statuses, each); count > 0)
            parts += fmt::format("{}{} {}", parts.empty() ? ": " : ", ", count, each);
    return fmt::format("{} kernel{}{}", statuses.size(), statuses.size() == 1 ? "" : "s", parts);
}

} // namespace kernelskill::lsp
