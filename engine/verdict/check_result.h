/// What a step of a review finds: a check that holds, or one that does not and what follows.
#pragma once

#include "engine/verdict/review_failure.h"
#include "engine/verdict/verdict.h"

#include <expected>
#include <string>
#include <utility>

namespace kernelskill::engine {

struct FailedCheck {
    VerdictStatus status = VerdictStatus::Invalid;
    std::string name;
    std::string detail;
    bool isAboutEdit = true; ///< False when the original, or the way it is run, is to blame.
    ReviewFailure seen = {}; ///< Where the edit is to blame.
};

using CheckResult = std::expected<Check, FailedCheck>;

[[nodiscard]] inline Check held(std::string name, std::string detail = {}) {
    return {std::move(name), true, std::move(detail)};
}
[[nodiscard]] inline std::unexpected<FailedCheck> incorrect(std::string name, std::string detail,
                                                            ReviewFailure seen) {
    return std::unexpected(FailedCheck{VerdictStatus::Incorrect, std::move(name), std::move(detail),
                                       true, std::move(seen)});
}
[[nodiscard]] inline std::unexpected<FailedCheck> invalid(std::string name, std::string detail,
                                                          ReviewFailure seen) {
    return std::unexpected(FailedCheck{VerdictStatus::Invalid, std::move(name), std::move(detail),
                                       true, std::move(seen)});
}
/// Nothing is learnt about the edit.
[[nodiscard]] inline std::unexpected<FailedCheck> unusable(std::string name, std::string detail) {
    return std::unexpected(
        FailedCheck{VerdictStatus::Invalid, std::move(name), std::move(detail), false, {}});
}

} // namespace kernelskill::engine
