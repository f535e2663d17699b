/// Finds variables into which a loop folds one value per iteration: sums and extremes.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <expected>
#include <vector>

namespace kernelskill::engine {

/// Products, `&` and `|` are missing: for many random values they become constants, and a
/// comparison could not detect wrong ones.
enum class Fold : std::uint8_t { Sum, Minimum, Maximum, Xor };

struct Reduction {
    analysis::VariableId variable = analysis::noId; ///< A number declared outside the loop.
    Fold fold = Fold::Sum;
    bool startsNeutral = false; ///< It is 0 before a sum.
};

/// Whether a value may be folded in twice.
[[nodiscard]] bool isIdempotent(Fold fold);

/// Whether another order of the values may change the result.
[[nodiscard]] bool rounds(const analysis::FunctionBody& body, const Reduction& reduction);

/// The reductions of all loops in `nest`, in the order in which their variables are declared. A
/// variable that is changed in several ways is left to LoopDependence. Refuses with `reduction` if
/// a reduction's variable has another use, and with `reduction-type` if the order of iterations is
/// not free for its type.
[[nodiscard]] std::expected<std::vector<Reduction>, skills::Refusal>
findReductions(const analysis::SourceText& source, const analysis::KernelModel& function,
               const analysis::CodeMap& code, analysis::StmtId nest);

} // namespace kernelskill::engine
