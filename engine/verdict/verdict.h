/// The Reviewer's judgement of an edit.
#pragma once

#include "engine/execution/profile.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

enum class VerdictStatus : std::uint8_t {
    Faster,
    Slower,
    Inconclusive,
    Incorrect,
    Invalid,
    Unmeasured
};
/// "faster", "slower", "inconclusive", "incorrect", "invalid", "unmeasured".
[[nodiscard]] std::string_view spelling(VerdictStatus status);
[[nodiscard]] std::optional<VerdictStatus> statusSpelled(std::string_view text);

struct Check {
    std::string name; ///< "parses", "compiles", "matches original, seed 2, n=1023", "control
                      ///< fails", "no new hazard"
    bool passed = false;
    /// The maximum error and its place, the first differing element, or the compiler's message.
    std::string detail;
};

struct ReviewFailure;

struct Verdict {
    VerdictStatus status = VerdictStatus::Invalid;
    std::vector<Check> checks;
    std::optional<double> speedup; ///< Only from a measurement.
    std::string summary;           ///< One sentence.
    /// False if the review says nothing about the edit: there is no executor, or the original does
    /// not run.
    bool isAboutEdit = true;
    /// Counter changes on the emulator, before and after, to explain an unmeasured edit.
    Metrics before;
    Metrics after;
    /// The observations of the failed check (verdict/review_failure.h) if the edit is at fault.
    /// Null otherwise, and if the verdict is remembered.
    std::shared_ptr<const ReviewFailure> failure;
};

} // namespace kernelskill::engine
