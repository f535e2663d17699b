#include "engine/generate/loop_dependence.h"

#include "analysis/model/known_functions.h"
#include "analysis/queries/index_arithmetic.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;

namespace {

LoopDecision sequential(std::string gate, std::string reason) {
    return {LoopClass::Sequential, {std::move(gate), std::move(reason)}};
}

bool isWriting(const MemoryAccess& access) {
    return access.kind != AccessKind::Read;
}

} // namespace

LoopDependence::LoopDependence(const SourceText& source, const KernelModel& function,
                               const analysis::CodeMap& code)
    : source_(source), function_(function), code_(code) {
    for (const Parameter& parameter : function.parameters)
        if (analysis::isUnsignedIndexType(parameter.type))
            unsigned_.push_back({SymbolKind::Parameter, parameter.variable});
}

std::uint32_t LoopDependence::line(ExprId expr) const {
    return source_.lineColumn(function_.body.expr(expr).span.begin).line + 1;
}

std::string LoopDependence::text(ExprId expr) const {
    return std::string(source_.slice(function_.body.expr(expr).span));
}

LoopDecision LoopDependence::decide(std::uint32_t loop, const std::set<VariableId>& folded) const {
    const Loop& subject = function_.loops.at(loop);
    const std::uint32_t at =
        source_.lineColumn(function_.body.stmt(subject.statement).span.begin).line + 1;
    if (subject.hasEarlyExit)
        return sequential("early-exit",
                          fmt::format("the loop of line {} may end early, so a later iteration "
                                      "depends on the earlier ones",
                                      at));
    if (!range(loop))
        return sequential(
            "not-counted",
            fmt::format("the loop of line {} does not count by a constant between bounds "
                        "that are sums of products of parameters",
                        at));
    if (auto carried = carriedVariable(loop, folded))
        return *carried;
    if (auto carried = carriedElement(loop))
        return *carried;
    return {LoopClass::Parallel, {}};
}

bool LoopDependence::isPrivateTo(std::uint32_t loop, VariableId variable) const {
    const StmtId declaration = code_.declarationOf(variable);
    const Loop& subject = function_.loops.at(loop);
    return declaration != noId && code_.encloses(subject.body, declaration);
}

/// For `s += x`, `s = s + x` and `s = max(s, x)`: `use` is the written s.
bool LoopDependence::isReductionOf(ExprId use) const {
    const FunctionBody& body = function_.body;
    const ExprId assignment = code_.parent(use);
    if (assignment == noId || body.expr(assignment).kind != ExprKind::Binary)
        return false;
    const Expr& expr = body.expr(assignment);
    if (expr.op == "+=" || expr.op == "*=" || expr.op == "-=")
        return true;
    if (expr.op != "=")
        return false;
    const Expr& value = body.expr(code_.withoutCasts(expr.children[1]));
    const bool folds = (value.kind == ExprKind::Binary && (value.op == "+" || value.op == "*")) ||
                       (value.kind == ExprKind::Call && (unqualified(value.name).contains("max") ||
                                                         unqualified(value.name).contains("min")));
    return folds && std::ranges::any_of(value.children, [&](ExprId child) {
               return code_.namedVariable(child) == body.expr(use).variable;
           });
}

std::optional<LoopDecision>
LoopDependence::carriedVariable(std::uint32_t loop, const std::set<VariableId>& folded) const {
    const FunctionBody& body = function_.body;
    const Loop& subject = function_.loops.at(loop);
    for (VariableId variable = 0; variable < body.variables.size(); ++variable) {
        if (isPrivateTo(loop, variable) || folded.contains(variable))
            continue;
        for (const ExprId use : code_.uses(variable)) {
            if (!code_.isWrite(use) || !code_.holds(subject.body, use))
                continue;
            const std::string& name = body.variable(variable).name;
            if (variable == subject.inductionVariable)
                return sequential(
                    "loop-variable-changed",
                    fmt::format("line {} changes the loop's own variable '{}'", line(use), name));
            if (isReductionOf(use))
                return LoopDecision{
                    LoopClass::Reduction,
                    {"reduction", fmt::format("all iterations meet in '{}', which line {} folds "
                                              "values into",
                                              name, line(use))}};
            return sequential("carried-variable",
                              fmt::format("line {} changes '{}', which the next iteration may read",
                                          line(use), name));
        }
    }
    return std::nullopt;
}

std::optional<LoopRange> LoopDependence::range(std::uint32_t number) const {
    const Loop& loop = function_.loops.at(number);
    if (loop.upperBound == noId)
        return std::nullopt;
    // The bound is evaluated in each iteration.
    for (const ExprId expr : code_.expressionsBelow(loop.upperBound)) {
        const VariableId variable = code_.namedVariable(expr);
        if (variable != noId && std::ranges::any_of(code_.uses(variable), [&](ExprId use) {
                return code_.isWrite(use) && code_.holds(loop.statement, use);
            }))
            return std::nullopt;
    }
    return rangeOf(function_, code_, number);
}

IterationSpace LoopDependence::everyLoop() const {
    return IterationSpace(knownRanges(), unsigned_);
}

std::vector<LoopRange> LoopDependence::knownRanges() const {
    std::vector<LoopRange> known;
    for (std::uint32_t number = 0; number < function_.loops.size(); ++number)
        if (auto bounds = range(number))
            known.push_back(std::move(*bounds));
    return known;
}

std::optional<std::vector<LoopRange>> LoopDependence::ranges(const MemoryAccess& access) const {
    std::vector<LoopRange> known;
    for (const std::uint32_t number : access.loops) {
        const Loop& loop = function_.loops.at(number);
        if (auto bounds = range(number)) {
            known.push_back(std::move(*bounds));
            continue;
        }
        const Symbol variable{SymbolKind::LoopVariable, loop.inductionVariable};
        if (access.index && access.index->dependsOn(variable))
            return std::nullopt;
    }
    return known;
}

std::optional<IterationSpace> LoopDependence::spaceOf(const MemoryAccess& access) const {
    auto known = ranges(access);
    if (!known)
        return std::nullopt;
    IterationSpace space(std::move(*known), unsigned_);
    space.assume(knownRanges());
    return space;
}

/// Whether no two different iterations of `loop` access one element by `a` and `b`, within one
/// iteration of the outer loops.
bool LoopDependence::areApart(std::uint32_t loop, const MemoryAccess& a,
                              const MemoryAccess& b) const {
    const auto rangesOfA = ranges(a);
    const auto rangesOfB = ranges(b);
    if (!rangesOfA || !rangesOfB)
        return false;
    const Symbol variable{SymbolKind::LoopVariable, function_.loops.at(loop).inductionVariable};
    const auto place = std::ranges::find(*rangesOfA, variable, &LoopRange::variable);
    if (place == rangesOfA->end())
        return false;
    // Both have the same outer loops; their inner loops are independent.
    const auto outer = static_cast<std::size_t>(place - rangesOfA->begin());
    const IterationSpace spaceOfA(*rangesOfA, unsigned_);
    const IterationSpace spaceOfB(*rangesOfB, unsigned_);
    std::vector<LoopRange> both = *rangesOfA;
    for (const LoopRange& range : *rangesOfB)
        if (std::ranges::find(both, range.variable, &LoopRange::variable) == both.end())
            both.push_back(range);
    const IterationSpace all(std::move(both), unsigned_);

    const auto stride = a.index->coefficientOf(variable);
    const auto strideOfB = b.index->coefficientOf(variable);
    if (stride && stride == strideOfB) {
        // stride * (i - i') = rest' - rest has no solution with i != i' if the right side is
        // smaller than stride times the loop's step.
        const IndexExpression own = *stride * IndexExpression::symbol(variable);
        const IndexExpression restOfA = *a.index - own;
        const IndexExpression restOfB = *b.index - own;
        const auto highA = spaceOfA.largest(restOfA, outer);
        const auto lowA = spaceOfA.smallest(restOfA, outer);
        const auto highB = spaceOfB.largest(restOfB, outer);
        const auto lowB = spaceOfB.smallest(restOfB, outer);
        if (highA && lowA && highB && lowB) {
            const IndexExpression one = IndexExpression::constant(1);
            const IndexExpression reach = *stride * IndexExpression::constant(place->step);
            const auto exceeds = [&](const IndexExpression& size) {
                return all.isNeverNegative(size - one - (*highA - *lowB)) &&
                       all.isNeverNegative(size - one - (*highB - *lowA));
            };
            if (exceeds(reach) || exceeds(IndexExpression::constant(-1) * reach))
                return true;
        }
    }
    const auto highA = spaceOfA.largest(*a.index, outer);
    const auto lowA = spaceOfA.smallest(*a.index, outer);
    const auto highB = spaceOfB.largest(*b.index, outer);
    const auto lowB = spaceOfB.smallest(*b.index, outer);
    const IndexExpression one = IndexExpression::constant(1);
    return highA && lowA && highB && lowB &&
           (all.isNeverNegative(*lowA - *highB - one) || all.isNeverNegative(*lowB - *highA - one));
}

std::optional<LoopDecision> LoopDependence::carriedElement(std::uint32_t loop) const {
    const FunctionBody& body = function_.body;
    std::vector<const MemoryAccess*> inside;
    for (const MemoryAccess& access : function_.accesses)
        if (code_.holds(function_.loops.at(loop).body, access.expression))
            inside.push_back(&access);
    for (const MemoryAccess* access : inside) {
        if (access->base == noId)
            return sequential("unknown-array",
                              fmt::format("it is not known which array '{}' on line {} is part of",
                                          text(access->expression), line(access->expression)));
        if (!isWriting(*access) || isPrivateTo(loop, access->base))
            continue;
        if (!access->index || access->index->hasOpaque())
            return sequential("unknown-index",
                              fmt::format("which element '{}' on line {} writes is no sum of "
                                          "products of loop variables and parameters",
                                          text(access->expression), line(access->expression)));
    }
    for (const MemoryAccess* write : inside) {
        if (!isWriting(*write) || isPrivateTo(loop, write->base))
            continue;
        for (const MemoryAccess* other : inside) {
            if (other->base != write->base)
                continue;
            const bool isKnown =
                other->index && !other->index->hasOpaque() && other->width == write->width;
            if (isKnown && areApart(loop, *write, *other))
                continue;
            const std::string& variable =
                body.variable(function_.loops.at(loop).inductionVariable).name;
            if (isKnown && other->index == write->index &&
                !write->index->dependsOn(
                    {SymbolKind::LoopVariable, function_.loops.at(loop).inductionVariable}))
                return LoopDecision{
                    isWriting(*other) && other->kind == AccessKind::ReadWrite
                        ? LoopClass::Reduction
                        : LoopClass::Sequential,
                    {"same-element",
                     fmt::format("every iteration over '{}' writes '{}' on line {}", variable,
                                 text(write->expression), line(write->expression))}};
            return sequential(
                "carried-element",
                fmt::format("'{}' on line {} is not proved to stay clear of what '{}' on line {} "
                            "writes in another iteration over '{}'",
                            text(other->expression), line(other->expression),
                            text(write->expression), line(write->expression), variable));
        }
    }
    return std::nullopt;
}

} // namespace kernelskill::engine
