#include "skills/schedule/nest_queries.h"

namespace kernelskill::skills {

using namespace analysis;

bool differInType(const NestArray& a, const NestArray& b) {
    const auto isPlain = [](ScalarKind kind) {
        return kind != ScalarKind::Unknown && kind != ScalarKind::Void &&
               kind != ScalarKind::Char && kind != ScalarKind::UInt8;
    };
    return isPlain(a.scalar) && isPlain(b.scalar) && a.lanes == 1 && b.lanes == 1 &&
           a.scalar != b.scalar;
}

bool differInSpace(const NestArray& a, const NestArray& b) {
    return a.space != b.space && a.space != MemorySpace::Generic && b.space != MemorySpace::Generic;
}

bool mayOverlap(const NestArray& a, const NestArray& b) {
    return !differInSpace(a, b) && !differInType(a, b) && !a.isRestrict && !b.isRestrict;
}

} // namespace kernelskill::skills
