#include "analysis/raise/unit_reductions.h"

#include <algorithm>

namespace kernelskill::analysis::raise {

namespace {

/// The result of a reduction over one element.
Scalar resultOf(const Reduction& reduction) {
    const bool findsPlace =
        reduction.reducer == Reducer::FirstMaximum || reduction.reducer == Reducer::FirstMinimum;
    return findsPlace ? integerNumber(reduction.type, 0)
                      : converted(reduction.element, reduction.type);
}

bool isOverOne(const Computation& computation) {
    const auto isUnit = [](const Axis& axis) { return axis.extent->constant() == 1; };
    return computation.scanned ? isUnit(computation.axes[*computation.scanned])
                               : std::ranges::all_of(computation.reduced, isUnit);
}

} // namespace

Program withoutUnitReductions(Program program) {
    for (Step& step : program.steps) {
        auto* computation = std::get_if<Computation>(&step);
        if (computation == nullptr || computation->reductions.empty() || !isOverOne(*computation))
            continue;
        for (Store& store : computation->stores)
            store.value = replaced(store.value, [&](const ScalarNode& node) -> Scalar {
                return node.kind == ScalarNode::Kind::Accumulated
                           ? resultOf(computation->reductions.at(node.reduction))
                           : nullptr;
            });
        computation->reductions.clear();
        computation->scanned = std::nullopt;
        computation->reduced.clear();
    }
    return program;
}

} // namespace kernelskill::analysis::raise
