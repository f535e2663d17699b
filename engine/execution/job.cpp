#include "engine/execution/job.h"

namespace kernelskill::engine {

std::string_view spelling(LaunchOrigin origin) {
    switch (origin) {
    case LaunchOrigin::Pinned:
        return "pinned";
    case LaunchOrigin::Captured:
        return "captured";
    case LaunchOrigin::Evaluated:
        return "evaluated";
    case LaunchOrigin::Guessed:
        break;
    }
    return "guessed";
}

} // namespace kernelskill::engine
