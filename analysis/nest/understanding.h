/// How much of a kernel its nest understands.
#pragma once

#include "analysis/nest/nest.h"

#include <string>
#include <vector>

namespace kernelskill::analysis {

/// The statements within the most loops; all of them where there is no loop.
[[nodiscard]] std::vector<NestNodeId> hotStatements(const Nest& nest);

/// Why the statement is opaque: its own reason, else that of its first opaque access. Empty if it
/// is not.
[[nodiscard]] std::string opaqueReason(const Nest& nest, NestNodeId statement);

struct NestUnderstanding {
    std::size_t statements = 0;
    std::size_t opaque = 0;
    std::size_t hot = 0;
    std::size_t hotOpaque = 0;
    std::size_t hotIndirect = 0;      ///< Not opaque, with an access that is indirect.
    std::vector<std::string> reasons; ///< One an opaque statement.
};

[[nodiscard]] NestUnderstanding understandingOf(const Nest& nest);

} // namespace kernelskill::analysis
