/// Loops whose rounds each add a term to every output, from operands that outputs share.
#pragma once

#include "skills/schedule/axis_dependence.h"
#include "skills/schedule/kept_element.h"

#include <string>
#include <vector>

namespace kernelskill::skills {

/// A value of memory that a term and one of the two positions decide: all outputs with that
/// position use the same.
struct TileOperand {
    std::vector<analysis::ExprId> uses; ///< The same expression; at least one.
    AxisSet axis = slowAxis;
    bool walksTerms = false; ///< Neighbours in memory are of neighbouring terms.
    analysis::NestArrayId array = analysis::noId;
    std::string type;
    std::uint32_t size = 0; ///< Bytes; 0 where a template parameter decides.
};

struct TermLoop {
    analysis::StmtId statement = analysis::noId;
    std::uint32_t loop = analysis::noId; ///< Index into KernelModel::loops.
    std::vector<TileOperand> operands;   ///< At least one.
};

/// True if the text of the expression's span is all of it and nothing else.
[[nodiscard]] bool isSpelledOut(const analysis::CodeMap& code, analysis::ExprId expr);
/// True if evaluating it anywhere, any number of times, changes nothing: no call but of known
/// functions, no assignment.
[[nodiscard]] bool isPure(const SkillContext& context, analysis::ExprId expr);
/// True if evaluating it loads from memory, or may, in a function.
[[nodiscard]] bool readsMemory(const analysis::CodeMap& code, analysis::ExprId expr);
/// The nest's node of a loop of the kernel's own text; noId where there is none.
[[nodiscard]] analysis::NestNodeId loopNode(const analysis::Nest& nest, analysis::StmtId loop);

/// A loop of the kernel's own text, whose rounds are the same for all outputs. Refuses with
/// `not-counted-up`, `short-loop`, `rounds-differ`, `loop-in-loop`, `unknown-effects`,
/// `stores-in-loop`, `operand-of-output`, `conditional-operand`, `from-macro`, `divides` or
/// `no-shared-operand`.
[[nodiscard]] Gated<TermLoop> readTermLoop(const SkillContext& context,
                                           const AxisDependence& dependence,
                                           const std::vector<KeptElement>& kept,
                                           std::uint32_t loop);

} // namespace kernelskill::skills
