/// Variables that a loop folds one value a round into: sums, products, extremes.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <expected>
#include <vector>

namespace kernelskill::engine {

/// A product, `&` and `|` are not among them: of many random values they come to nothing that a
/// comparison could tell from a wrong one.
enum class Fold : std::uint8_t { Sum, Minimum, Maximum, Xor };

struct Reduction {
    analysis::VariableId variable = analysis::noId; ///< A number from outside of the loop.
    Fold fold = Fold::Sum;
    bool startsNeutral = false; ///< It is 0 before a sum.
};

/// Whether the same value may be folded in twice.
[[nodiscard]] bool isIdempotent(Fold fold);

/// Whether another order of the values may give another result.
[[nodiscard]] bool rounds(const analysis::FunctionBody& body, const Reduction& reduction);

/// Of all loops in `nest`, in the order in which the variables are declared. A variable that is
/// changed otherwise than by one kind of fold is left to LoopDependence; refuses with `reduction`
/// where one that is folded into is used for something else as well, with `reduction-type` where
/// its rounds have no free order for their type.
[[nodiscard]] std::expected<std::vector<Reduction>, skills::Refusal>
findReductions(const analysis::SourceText& source, const analysis::KernelModel& function,
               const analysis::CodeMap& code, analysis::StmtId nest);

} // namespace kernelskill::engine
