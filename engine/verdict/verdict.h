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
    std::string
        detail; ///< Largest error and where, the first differing element, the compiler's message.
};

struct ReviewFailure;

struct Verdict {
    VerdictStatus status = VerdictStatus::Invalid;
    std::vector<Check> checks;
    std::optional<double> speedup; ///< Only from a measurement.
    std::string summary;           ///< One sentence.
    /// False when nothing could be learnt about the edit: no executor, or the original itself does
    /// not run.
    bool isAboutEdit = true;
    /// Counter changes on the emulator, before -> after, for the explanation of an unmeasured edit.
    Metrics before;
    Metrics after;
    /// What the failed check saw (review/review_failure.h), of an edit that is to blame for it;
    /// null else, and where the verdict is remembered.
    std::shared_ptr<const ReviewFailure> failure;
};

} // namespace kernelskill::engine
