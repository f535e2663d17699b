/// The result of a review's step: a check that passed, or a failed one and its consequences.
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
    bool isAboutEdit = true; ///< False if the original, or the way it is run, is at fault.
    ReviewFailure seen = {}; ///< Set if the edit is at fault.
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
/// A failure that says nothing about the edit.
[[nodiscard]] inline std::unexpected<FailedCheck> unusable(std::string name, std::string detail) {
    return std::unexpected(
        FailedCheck{VerdictStatus::Invalid, std::move(name), std::move(detail), false, {}});
}

/// Makes `failed` the outcome of `verdict`, whose earlier checks have passed.
void refuse(Verdict& verdict, FailedCheck failed);

} // namespace kernelskill::engine
