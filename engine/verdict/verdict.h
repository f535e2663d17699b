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

/// How much agreement the checks of an edit show.
enum class Confidence : std::uint8_t {
    Weak,   ///< It agreed at one size.
    Strong, ///< It agreed at several sizes.
    Proved, ///< The code of both kernels shows that they agree, for all inputs and sizes.
};
/// "weak", "strong", "proved".
[[nodiscard]] std::string_view spelling(Confidence confidence);

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
    std::optional<double> speedup;            ///< Only from a measurement.
    std::string summary;                      ///< One sentence.
    Confidence confidence = Confidence::Weak; ///< Holds for a verdict in which all checks passed.
    /// "proved for all inputs and sizes, if ..."; empty if the edit is not proved.
    std::string proof;
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
