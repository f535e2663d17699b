/// Decides which loops may run their iterations in any order, and why the others may not.
#pragma once

#include "analysis/model/kernel_model.h"
#include "analysis/queries/code_map.h"
#include "engine/generate/counted_loop.h"
#include "skills/base/skill.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine {

enum class LoopClass : std::uint8_t {
    Parallel,   ///< Proved: no iteration reads or writes an element that another one writes.
    Reduction,  ///< All iterations add to, multiply or compare with one variable.
    Sequential, ///< All others, and those not proved.
};

struct LoopDecision {
    LoopClass kind = LoopClass::Sequential;
    skills::Refusal why; ///< The reason why it is not parallel.
};

/// Assumes that arrays behind different parameters do not overlap. Users of the result must say so.
class LoopDependence {
public:
    /// Keeps references to all three arguments.
    LoopDependence(const analysis::SourceText& source, const analysis::KernelModel& function,
                   const analysis::CodeMap& code);

    /// `loop` is an index into KernelModel::loops. Ignores dependences through variables of
    /// `folded`.
    [[nodiscard]] LoopDecision decide(std::uint32_t loop,
                                      const std::set<analysis::VariableId>& folded = {}) const;

    /// The range of loop number `loop`; nullopt if its bounds are unknown before it runs.
    [[nodiscard]] std::optional<LoopRange> range(std::uint32_t loop) const;
    /// All loops with a known range, in source order.
    [[nodiscard]] IterationSpace everyLoop() const;
    /// The loops around `access`, outermost first, assuming that every loop of the function runs.
    /// nullopt if its index depends on a loop with an unknown range. Other loops with unknown
    /// ranges are left out.
    [[nodiscard]] std::optional<IterationSpace> spaceOf(const analysis::MemoryAccess& access) const;

private:
    [[nodiscard]] std::optional<LoopDecision>
    carriedVariable(std::uint32_t loop, const std::set<analysis::VariableId>& folded) const;
    [[nodiscard]] std::optional<LoopDecision> carriedElement(std::uint32_t loop) const;
    [[nodiscard]] bool areApart(std::uint32_t loop, const analysis::MemoryAccess& a,
                                const analysis::MemoryAccess& b) const;
    [[nodiscard]] bool isPrivateTo(std::uint32_t loop, analysis::VariableId variable) const;
    [[nodiscard]] bool isReductionOf(analysis::ExprId use) const;
    [[nodiscard]] std::optional<std::vector<LoopRange>>
    ranges(const analysis::MemoryAccess& access) const;
    [[nodiscard]] std::vector<LoopRange> knownRanges() const;
    [[nodiscard]] std::uint32_t line(analysis::ExprId expr) const;
    [[nodiscard]] std::string text(analysis::ExprId expr) const;

    const analysis::SourceText& source_;
    const analysis::KernelModel& function_;
    const analysis::CodeMap& code_;
    std::vector<analysis::Symbol> unsigned_;
};

} // namespace kernelskill::engine
