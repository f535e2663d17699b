#include "engine/verification/change_outcome.h"

namespace kernelskill::engine {

std::string_view spelling(ChangeOutcome outcome) {
    switch (outcome) {
    case ChangeOutcome::Right:
        return "right";
    case ChangeOutcome::NotJudged:
        return "not-judged";
    case ChangeOutcome::Wrong:
        return "wrong";
    }
    return "not-judged";
}

} // namespace kernelskill::engine
