/// Arrays that no launch in sight tells apart, and that threads could not share without a race.
#pragma once

#include "analysis/nest/nest.h"

#include <optional>

namespace kernelskill::skills {

/// Whether threads that run both accesses, of two arrays of which at least one is stored to, would
/// race if the arrays overlapped where one thread uses both: a program without races has them
/// apart there. Holds for an element of each thread beside a row of each thread, for a row that is
/// stored beside one that is read at the same places, and for one element of all threads beside
/// one of each. It takes three threads side by side, and rows of two elements.
[[nodiscard]] bool areApartByRaces(const analysis::Nest& nest, const analysis::NestAccess& a,
                                   const analysis::NestAccess& b);

/// Returns the distance of neighbouring threads along x in the access, in elements; nullopt where
/// it differs, or where the text does not tell. Digits of a flat position are put together for it.
[[nodiscard]] std::optional<analysis::IndexExpression>
threadDistance(const analysis::Nest& nest, const analysis::NestAccess& access);

} // namespace kernelskill::skills
