/// The elements that accesses of a nest go to, by isl.
#pragma once

#include "tests/nest/nest_run.h"

#include <optional>
#include <set>

namespace kernelskill::testing {

struct ElementSet {
    std::set<std::int64_t> elements; ///< In units of the access.
    bool isExact = false;            ///< False: some of the elements may not be accessed.
};

/// nullopt where sizes leave the set open or unbounded, or it has more than some thousands of
/// points.
[[nodiscard]] std::optional<ElementSet> elementsOf(const analysis::Nest& nest,
                                                   analysis::NestAccessId access,
                                                   const NestSizes& sizes,
                                                   const std::vector<Index3>& blocks);

/// The values of the symbols that sizes decide.
[[nodiscard]] std::map<analysis::Symbol, std::int64_t> valuesOf(const analysis::Nest& nest,
                                                                const NestSizes& sizes);

} // namespace kernelskill::testing
