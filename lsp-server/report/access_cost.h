/// The cost of one memory access for a warp, judged: shared by hover, inlay hints and diagnostics.
#pragma once

#include "analysis/features/features.h"
#include "analysis/model/kernel_model.h"

#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::lsp {

struct AccessCost {
    bool isShared = false;
    double needed = 0;  ///< Sectors or wavefronts per request.
    double minimum = 0; ///< The cost of the same bytes, well arranged.
    [[nodiscard]] bool isWasteful() const { return needed >= 2 * minimum; }
};

/// nullopt when the index is not known well enough.
[[nodiscard]] std::optional<AccessCost> accessCost(const analysis::KernelModel& kernel,
                                                   const analysis::AccessFeatures& features);

/// "32 sectors/request" or "32-way bank conflict".
[[nodiscard]] std::string shortLabel(const AccessCost& cost);

[[nodiscard]] std::string_view describe(analysis::MemorySpace space); ///< "global", "shared", ...
[[nodiscard]] std::string_view describe(analysis::AccessKind kind);   ///< "read", "write", ...

/// 4 as "4", 4.25 as "4.25".
[[nodiscard]] std::string formatNumber(double value);

} // namespace kernelskill::lsp
