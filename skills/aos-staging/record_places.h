/// Where the text of a kernel goes to the records of an array.
#pragma once

#include "skills/aos-staging/record_arrays.h"

namespace kernelskill::skills {

/// Finds the places of the array, whose other facts are known, and what holds the number of a
/// record. Refuses with `moved-pointer`, `whole-array`, `from-macro` and `record-number`.
[[nodiscard]] Gated<void> findPlaces(const SkillContext& context, const RowGuard& guard,
                                     RecordArray& array);

} // namespace kernelskill::skills
