/// The outcome of checking a change.
#pragma once

#include <cstdint>
#include <string_view>

namespace kernelskill::engine {

/// Ordered from the best to the worst.
enum class ChangeOutcome : std::uint8_t {
    Right,     ///< All checks hold.
    NotJudged, ///< A check could not be made; the change may be right.
    Wrong      ///< A check failed, and the change is at fault.
};
/// "right", "not-judged", "wrong"
[[nodiscard]] std::string_view spelling(ChangeOutcome outcome);

} // namespace kernelskill::engine
