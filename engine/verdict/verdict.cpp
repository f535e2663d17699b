#include "engine/verdict/verdict.h"

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

std::string_view spelling(Confidence confidence) {
    switch (confidence) {
    case Confidence::Weak:
        return "weak";
    case Confidence::Strong:
        return "strong";
    case Confidence::Proved:
        return "proved";
    }
    return "weak";
}

std::optional<VerdictStatus> statusSpelled(std::string_view text) {
    for (const VerdictStatus status :
         {VerdictStatus::Faster, VerdictStatus::Slower, VerdictStatus::Inconclusive,
          VerdictStatus::Incorrect, VerdictStatus::Invalid, VerdictStatus::Unmeasured}) {
        if (spelling(status) == text)
            return status;
    }
    return std::nullopt;
}

} // namespace kernelskill::engine
