#include "engine/execution/profile.h"

namespace kernelskill::engine {

std::string_view spelling(HazardKind kind) {
    switch (kind) {
    case HazardKind::Race:
        return "race";
    case HazardKind::OutOfBounds:
        return "out-of-bounds";
    case HazardKind::BarrierDivergence:
        return "barrier-divergence";
    case HazardKind::UninitializedRead:
        return "uninitialized-read";
    case HazardKind::Misaligned:
        return "misaligned";
    }
    return "";
}

} // namespace kernelskill::engine
