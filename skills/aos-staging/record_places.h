/// Where the text of a kernel goes to the records of an array.
#pragma once

#include "skills/aos-staging/record_arrays.h"

namespace kernelskill::skills {

/// Fills in `places` and `number` of the array, whose other members are known. Refuses with
/// `moved-pointer`, `whole-array`, `from-macro` and `record-number`.
[[nodiscard]] Gated<void> findPlaces(const SkillContext& context, const RowGuard& guard,
                                     RecordArray& array);

} // namespace kernelskill::skills
