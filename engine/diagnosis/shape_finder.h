/// The parts of codeShapeOf(). Implementation detail of code_shape.h.
#pragma once

#include "engine/diagnosis/code_shape.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Facts about one kernel in the making; each name once, by the first place that shows it.
class ShapeNotes {
public:
    explicit ShapeNotes(const WarpView& warp) : warp_(warp) {}

    void add(std::string_view name, std::uint32_t frame, analysis::Span span, std::string word,
             double value = 1);
    void add(std::string_view name, analysis::NestAccessId access);
    void add(std::string_view name, analysis::NestNodeId node, std::string word);
    [[nodiscard]] bool has(std::string_view name) const;
    [[nodiscard]] std::vector<ShapeFact> take() { return std::move(facts_); }

private:
    /// The call in the kernel that leads to the function of the frame.
    [[nodiscard]] analysis::Span callTo(std::uint32_t frame) const;

    const WarpView& warp_;
    std::vector<ShapeFact> facts_;
};

/// Loops that each thread runs all of, around the node, innermost first.
[[nodiscard]] std::vector<analysis::NestNodeId> serialLoops(const analysis::Nest& nest,
                                                            analysis::NestNodeId node);
/// `node` is `outer` or below it.
[[nodiscard]] bool isBelow(const analysis::Nest& nest, analysis::NestNodeId outer,
                           analysis::NestNodeId node);
/// Whether a long loop over other arrays in global memory hides what the access costs, which is
/// made once beside it.
[[nodiscard]] bool isBesideLongLoop(const WarpView& warp, const analysis::NestAccess& access);
/// Memory of a space that is no variable of each thread.
[[nodiscard]] bool isIn(const analysis::Nest& nest, const analysis::NestAccess& access,
                        analysis::MemorySpace space);
/// Whether the symbol is in the expression, or in an operand of what is in it.
[[nodiscard]] bool mentions(const analysis::Nest& nest, const analysis::IndexExpression& expression,
                            analysis::Symbol symbol);
/// Whether threadIdx, blockIdx or a position in the grid is in it, at any depth.
[[nodiscard]] bool mentionsThread(const analysis::Nest& nest,
                                  const analysis::IndexExpression& expression);
/// Whether the access is one of the single elements that the other branch of an if reaches by
/// vectors: the rest at the end of an array, which few threads come to.
[[nodiscard]] bool isRestOfVectors(const WarpView& warp, analysis::NestAccessId id);
/// Whether a round of the loop uses what another one left in a variable of the thread.
[[nodiscard]] bool carriesValue(const analysis::Nest& nest, analysis::NestNodeId loop);
/// The loop's variable doubles or halves from round to round.
[[nodiscard]] bool isGeometric(const analysis::NestLoop& loop);

/// How global memory is walked through, behind findReuseShapes().
void findAccessShapes(const WarpView& warp, ShapeNotes& notes);
/// Products, stencils and other reuse between threads. Adds to `overlapping`, see staticWork().
void findReuseShapes(const WarpView& warp, ShapeNotes& notes, std::set<AccessInLoop>& overlapping);
void findControlShapes(const WarpView& warp, ShapeNotes& notes);
void findSynchronisationShapes(const WarpView& warp, ShapeNotes& notes);
void findArithmeticShapes(const WarpView& warp, const StaticWork& work, ShapeNotes& notes);

} // namespace kernelskill::engine
