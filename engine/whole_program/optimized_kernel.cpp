#include "engine/whole_program/optimized_kernel.h"

namespace kernelskill::engine {

bool OptimizedKernel::sharesTextWith(const OptimizedKernel& other) const {
    return share.place && share.place == other.share.place && share.isInstantiation() &&
           other.share.isInstantiation();
}

std::string_view spelling(KernelOutcome outcome) {
    switch (outcome) {
    case KernelOutcome::Kept:
        return "kept";
    case KernelOutcome::TakenBack:
        return "taken-back";
    case KernelOutcome::NothingBetter:
        return "nothing-better";
    case KernelOutcome::Unchecked:
        return "unchecked";
    case KernelOutcome::NotSearched:
        break;
    }
    return "not-searched";
}

} // namespace kernelskill::engine
