#include "engine/agents/verdict.h"

namespace kernelskill::engine {

std::string_view spelling(VerdictStatus status) {
    switch (status) {
    case VerdictStatus::Faster:
        return "faster";
    case VerdictStatus::Slower:
        return "slower";
    case VerdictStatus::Inconclusive:
        return "inconclusive";
    case VerdictStatus::Incorrect:
        return "incorrect";
    case VerdictStatus::Invalid:
        return "invalid";
    case VerdictStatus::Unmeasured:
        return "unmeasured";
    }
    return "invalid";
}

} // namespace kernelskill::engine
