#include "lsp-server/report/access_cost.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

namespace kernelskill::lsp {

std::optional<AccessCost> accessCost(const analysis::KernelModel& kernel,
                                     const analysis::AccessFeatures& features) {
    if (features.bankConflictDegree) {
        // 32 banks of 4 bytes: 8-byte elements need two wavefronts, 16-byte ones four.
        const auto width = kernel.accesses.at(features.access).width;
        return AccessCost{true, *features.bankConflictDegree, std::max(1.0, width / 4.0)};
    }
    if (!features.sectorsPerRequest)
        return std::nullopt;
    const auto width = kernel.accesses.at(features.access).width;
    const bool isBroadcast = features.laneStride == 0;
    // 32 lanes times `width` bytes in sectors of 32 bytes: as many sectors as the width has bytes.
    // Those that other fields of a struct need come along.
    const double least = std::max(1.0, static_cast<double>(width) * features.fellows);
    return AccessCost{false, *features.sectorsPerRequest, isBroadcast ? 1.0 : least};
}

std::string shortLabel(const AccessCost& cost) {
    if (cost.isShared)
        return fmt::format("{}-way bank conflict", formatNumber(cost.needed));
    return fmt::format("{} sectors/request", formatNumber(cost.needed));
}

std::string_view describe(analysis::MemorySpace space) {
    switch (space) {
    case analysis::MemorySpace::Global:
        return "global";
    case analysis::MemorySpace::Shared:
        return "shared";
    case analysis::MemorySpace::Constant:
        return "constant";
    case analysis::MemorySpace::Local:
        return "local";
    case analysis::MemorySpace::Generic:
        break;
    }
    return "generic";
}

std::string_view describe(analysis::AccessKind kind) {
    switch (kind) {
    case analysis::AccessKind::Read:
        return "read";
    case analysis::AccessKind::Write:
        return "write";
    case analysis::AccessKind::ReadWrite:
        return "read and write";
    case analysis::AccessKind::Atomic:
        break;
    }
    return "atomic";
}

std::string formatNumber(double value) {
    if (std::abs(value - std::round(value)) < 0.005)
        return fmt::format("{:.0f}", value);
    return fmt::format("{:.2f}", value);
}

} // namespace kernelskill::lsp
