#include "engine/optimization/optimization.h"

namespace kernelskill::engine {

std::string_view spelling(StopReason reason) {
    switch (reason) {
    case StopReason::AtRoofline:
        return "roofline";
    case StopReason::NoPlanLeft:
        return "no-plan-left";
    case StopReason::Converged:
        return "converged";
    case StopReason::RoundsSpent:
        return "rounds";
    case StopReason::TimeSpent:
        return "seconds";
    case StopReason::Cancelled:
        break;
    }
    return "cancelled";
}

} // namespace kernelskill::engine
