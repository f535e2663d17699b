/// Finds arithmetic of float that has a form of fewer instructions and less precision.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

enum class ReplacementKind : std::uint8_t {
    Function,       ///< `expf(x)` by `__expf(x)`
    Tangent,        ///< `tanhf(x)` by a quotient of exponentials
    ReciprocalRoot, ///< `a / sqrtf(x)` by `a * rsqrtf(x)`, or rsqrtf(x) where a is 1
    Quotient,       ///< `a / b` by `__fdividef(a, b)`
    Power,          ///< `powf(x, 2)` and 3 by products
    Literal,        ///< `0.5` between floats by `0.5f`
};

struct Replacement {
    ReplacementKind kind = ReplacementKind::Function;
    analysis::ExprId expr = analysis::noId;
    std::string_view was;     ///< For the menu: "expf", "/", "double literal".
    std::string_view becomes; ///< The intrinsic's name, for Function.
    /// Instructions that the original takes, and how many fewer the replacement does: SASS of sm_90
    /// by nvcc 13.0, without the slow paths of rare arguments.
    int instructions = 0;
    int saved = 0;
    bool isExact = false; ///< The result is the same, bit for bit.
};

/// The maximum error of the replacement that is not rounding to float alone; none if it is exact.
[[nodiscard]] StatedError errorOf(const Replacement& replacement);

/// In the order of the source. Outer before inner where they nest.
[[nodiscard]] std::vector<Replacement> findReplacements(const analysis::CodeMap& code);

/// Edits that make `replacements`, nested ones within the text of the outer one.
[[nodiscard]] std::vector<analysis::TextEdit>
replacementEdits(const SkillContext& context, const analysis::CodeMap& code,
                 const std::vector<Replacement>& replacements);

} // namespace kernelskill::skills
