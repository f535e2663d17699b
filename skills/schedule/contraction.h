/// Kernels whose threads each sum the terms of one output, from operands that outputs share.
#pragma once

#include "skills/schedule/axis_dependence.h"
#include "skills/schedule/kept_element.h"
#include "skills/schedule/output_axes.h"
#include "skills/schedule/term_loop.h"

#include <map>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// One of the conditions that all have to hold for an output to be computed.
struct GuardClause {
    analysis::ExprId condition = analysis::noId;
    bool isNegated = false; ///< Of an early return.
    AxisSet axes = 0;
};

/// A variable that the kernel declares around its loops.
enum class OutputRole : std::uint8_t {
    Block,   ///< The same for all outputs of a thread.
    Axis,    ///< Holds a position of the output.
    Derived, ///< Follows from the positions wherever it is evaluated; never changes.
    Part,    ///< An output's own, of use between two loops alone.
    Carried, ///< An output's own, from before a loop to behind it.
    Dropped, ///< Not needed any more.
};

/// A statement of the kernel, or the condition under which what follows is done.
struct ContractionPart {
    enum class Kind : std::uint8_t { Once, Declaration, Guard, Work, Loop };
    Kind kind = Kind::Work;
    analysis::StmtId statement = analysis::noId; ///< The if of a guard.
    std::vector<GuardClause> clauses;
};

struct Contraction {
    OutputAxes axes;
    std::vector<TermLoop> loops;        ///< At least one; in order.
    std::vector<ContractionPart> parts; ///< All statements of the kernel, in order.
    std::map<analysis::VariableId, OutputRole> roles;
    /// For Derived and Carried: the axes that tell their values apart.
    std::map<analysis::VariableId, AxisSet> dependsOn;
    std::vector<KeptElement> kept; ///< The elements that loops add to.
    std::vector<AxisSet> keptAxes;
    std::vector<std::string> keptNames;
    AxisSet bounded = 0; ///< Axes whose positions a guard bounds from above.
    /// For flat outputs: the number of outputs, or of rows, that a guard states.
    analysis::ExprId count = analysis::noId;
    analysis::ExprId rows = analysis::noId;
};

/// Refuses with `barrier`, `shares-memory`, `warp-operation`, `atomic`, `unknown-effects`,
/// `no-term-loop`, `compound-guard`, `work-after-guard`, `early-exit`, `uses-thread-position`,
/// `moves-parameter`, `carried-array`, `loop-variable-used-later`, `operand-carried`,
/// `operand-stored`, `shared-output`, `may-alias`, `from-macro`, or what outputAxes() and
/// readTermLoop() refuse with.
[[nodiscard]] Gated<Contraction> contraction(const SkillContext& context);

} // namespace kernelskill::skills
