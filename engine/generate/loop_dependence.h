/// Which loops of a function may run their iterations in any order, and why the others may not.
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
    Parallel,   ///< Proved: no iteration reads or writes what another one writes.
    Reduction,  ///< Iterations meet in one variable that they all add to, multiply or compare with.
    Sequential, ///< Anything else, or not proved.
};

struct LoopDecision {
    LoopClass kind = LoopClass::Sequential;
    skills::Refusal why; ///< Of what is not parallel.
};

/// Arrays behind different parameters are taken to be apart: what relies on it must say so.
class LoopDependence {
public:
    /// Keeps references to all three.
    LoopDependence(const analysis::SourceText& source, const analysis::KernelModel& function,
                   const analysis::CodeMap& code);

    /// `loop` is an index into KernelModel::loops. Variables of `folded` are not held against it.
    [[nodiscard]] LoopDecision decide(std::uint32_t loop,
                                      const std::set<analysis::VariableId>& folded = {}) const;

    /// Of loop number `loop`: nullopt when its bounds are not known before it runs.
    [[nodiscard]] std::optional<LoopRange> range(std::uint32_t loop) const;
    /// The loops whose range is known, in the order of the source.
    [[nodiscard]] IterationSpace everyLoop() const;
    /// The loops around `access`, outermost first, where every loop of the function runs; nullopt
    /// when a range is not known that its index depends on. Those not known otherwise are left out.
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
