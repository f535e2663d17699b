#include "engine/execution/profile.h"

#include <cstddef>

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

void unite(Outcomes& all, const Outcomes& more) {
    if (all.size() < more.size())
        all.resize(more.size());
    for (std::size_t i = 0; i < more.size(); ++i)
        all[i] |= more[i];
}

} // namespace kernelskill::engine
