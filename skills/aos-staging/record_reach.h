/// Where within a thread's record an access of the nest goes.
#pragma once

#include "analysis/nest/nest.h"

#include <cstdint>
#include <optional>
#include <set>

namespace kernelskill::skills {

inline constexpr analysis::Symbol threadX{analysis::SymbolKind::ThreadIdx, 0};

struct RecordReach {
    std::int64_t stride = 0;         ///< Bytes from a thread to the next along x.
    std::set<std::int64_t> offsets;  ///< Bytes from the record's beginning, in all rounds of loops.
    analysis::IndexExpression begin; ///< The rest of the address, which a row of threads shares.
};

/// nullopt where the address is not a multiple of threadIdx.x, something that a row of threads
/// shares, and an offset that constants and loops of constant bounds decide.
[[nodiscard]] std::optional<RecordReach> recordReach(const analysis::Nest& nest,
                                                     const analysis::NestAccess& access);

/// Whether every round of the loop is made, and their number is known.
[[nodiscard]] bool hasConstantRounds(const analysis::NestLoop& loop);

} // namespace kernelskill::skills
