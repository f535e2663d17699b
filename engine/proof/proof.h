/// Shows from the code of both kernels that an edit changes no result, for all inputs and sizes.
///
/// A proof is far from complete: without one, nothing is known of the edit. The program is taken to
/// have no data race and no undefined behaviour before the edit, and the compiler to contract
/// products and sums of both kernels alike.
#pragma once

#include "engine/execution/kernel_ref.h"
#include "skills/base/skill.h"

#include <cstdint>
#include <expected>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::engine {

/// How exactly the results of both kernels agree.
enum class Equality : std::uint8_t {
    Exact, ///< Bit by bit.
    Reals, ///< As real numbers: sums and products are rounded in another order.
};

struct Proved {
    Equality equality = Equality::Exact;
    /// Assumed beside the inputs and sizes, as clauses: "out, x do not overlap". Each is a matter
    /// of the launch that a run cannot vary. Empty: the results agree whatever the launch.
    std::vector<std::string> conditions;

    /// "proved for all inputs and sizes, if out, x do not overlap".
    [[nodiscard]] std::string sentence() const;
};

struct Unproved {
    std::string reason; ///< The first thing that no proof was found for, with its line.
};

using Proof = std::expected<Proved, Unproved>;

[[nodiscard]] inline std::unexpected<Unproved> unproved(std::string reason) {
    return std::unexpected(Unproved{std::move(reason)});
}
/// "a read on line 5"
[[nodiscard]] std::string onLine(std::string_view what, std::uint32_t line);

/// The reason of a proof that a stop has ended.
inline constexpr const char* stoppedProof = "the proof was stopped";

/// Both programs' models are set. `numerics` is what the edit may do to rounding. `stop` ends the
/// proof within a fraction of a second; what is unproved then may be proved at another time.
[[nodiscard]] Proof prove(KernelRef original, KernelRef candidate, skills::Numerics numerics,
                          const std::stop_token& stop);

} // namespace kernelskill::engine
