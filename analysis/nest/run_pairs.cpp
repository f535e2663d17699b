#include "analysis/nest/run_pairs.h"

#include "analysis/nest/phases.h"

#include <algorithm>
#include <utility>

namespace kernelskill::analysis {

RunPairs::RunPairs(const Nest& nest) : nest_(nest) {
    findAxes();
}

std::string RunPairs::formula(PointSet& points, NestNodeId first, NestNodeId second,
                              const NestCarrier& carrier,
                              std::vector<std::string>& conditions) const {
    if (carrier.level == Level::Blocks || carrier.level == Level::Threads)
        return otherThread(points, first, second, carrier.level, conditions);
    std::string text = sameThread(points);
    for (const NestNodeId loop : commonLoops(nest_, first, second)) {
        const Symbol iterator = nest_.node(loop).loop()->iterator;
        const std::string before = points.dimension(iterator, 0);
        const std::string after = points.dimension(iterator, 1);
        if (loop == carrier.loop) {
            text += " and " + isLater(points, loop, 0, 1);
            return carrier.crossed == noId
                       ? text
                       : text + " and " + isLater(points, carrier.crossed, 1, 0);
        }
        text += " and " + before + " = " + after;
    }
    return text;
}

std::optional<std::vector<Symbol>> RunPairs::sameInBothRuns(NestNodeId first, NestNodeId second,
                                                            const NestCarrier& carrier) const {
    if (carrier.level == Level::Blocks || carrier.level == Level::Threads)
        return std::nullopt;
    std::vector<Symbol> same;
    for (const NestNodeId loop : commonLoops(nest_, first, second)) {
        if (loop == carrier.loop)
            break;
        same.push_back(nest_.node(loop).loop()->iterator);
    }
    return same;
}

void RunPairs::findAxes() {
    const auto note = [&](const IndexExpression& expression, auto&& self) -> void {
        for (const auto& [monomial, coefficient] : expression.terms())
            for (const Symbol symbol : monomial) {
                if (symbol.kind == SymbolKind::ThreadIdx && symbol.id < 3)
                    axes_[symbol.id].thread = true;
                if (symbol.kind == SymbolKind::BlockIdx && symbol.id < 3)
                    axes_[symbol.id].block = true;
                const NestSymbol* named = nest_.symbols.find(symbol);
                if (named == nullptr)
                    continue;
                if (named->kind == NestSymbolKind::Position)
                    axes_[named->axis].position = true;
                for (const IndexExpression& operand : named->operands)
                    self(operand, self);
            }
    };
    const auto noteCondition = [&](const NestCondition& condition, auto&& self) -> void {
        note(condition.expression, note);
        for (const NestCondition& part : condition.parts)
            self(part, self);
    };
    for (const NestAccess& access : nest_.accesses)
        if (access.node != noId && access.index)
            note(*access.index, note);
    for (const NestNode& node : nest_.nodes) {
        if (const NestGuard* guard = node.guard())
            noteCondition(guard->condition, noteCondition);
        const NestLoop* loop = node.loop();
        if (loop != nullptr)
            for (const auto& bound : {loop->first, loop->end})
                if (bound)
                    note(*bound, note);
    }
}

std::string RunPairs::isLater(PointSet& points, NestNodeId id, int first, int second) const {
    const NestLoop& loop = *nest_.node(id).loop();
    return points.dimension(loop.iterator, first) + (loop.isDownward ? " > " : " < ") +
           points.dimension(loop.iterator, second);
}

std::vector<Symbol> RunPairs::indicesOf(std::uint8_t axis, bool thread, bool block,
                                        bool position) const {
    std::vector<Symbol> symbols;
    if (thread)
        symbols.push_back({SymbolKind::ThreadIdx, axis});
    if (block)
        symbols.push_back({SymbolKind::BlockIdx, axis});
    for (std::uint32_t id = 0; position && id < nest_.symbols.all().size(); ++id)
        if (nest_.symbols.all()[id].kind == NestSymbolKind::Position &&
            nest_.symbols.all()[id].axis == axis)
            symbols.push_back({SymbolKind::Named, id});
    return symbols;
}

std::string RunPairs::sameThread(PointSet& points) const {
    std::string text = "(0 = 0)";
    for (std::uint8_t axis = 0; axis < 3; ++axis)
        for (const Symbol symbol :
             indicesOf(axis, axes_[axis].tellsThreads(), axes_[axis].block, axes_[axis].position))
            text += " and " + points.dimension(symbol, 0) + " = " + points.dimension(symbol, 1);
    return text;
}

std::string RunPairs::otherThread(PointSet& points, NestNodeId first, NestNodeId second,
                                  Level level, std::vector<std::string>& conditions) const {
    std::string any;
    bool told = false;
    for (std::uint8_t axis = 0; axis < 3; ++axis) {
        const AxisUse& use = axes_[axis];
        if (level == Level::Threads ? !use.tellsThreads() : !use.tellsBlocks())
            continue;
        told = true;
        for (const auto& [lower, higher] : {std::pair{0, 1}, std::pair{1, 0}}) {
            std::string text = differs(points, axis, lower, higher, level);
            if (level == Level::Threads)
                text += sameBlock(points) + sameRounds(points, first, second);
            text += otherRounds(points, first, second, axis, level);
            any += (any.empty() ? "(" : " or (") + text + ")";
        }
    }
    if (!told) {
        conditions.emplace_back(level == Level::Threads ? "blocks have one thread"
                                                        : "the grid has one block");
        return "(0 = 1)";
    }
    return "(" + any + ")";
}

std::string RunPairs::differs(PointSet& points, std::uint8_t axis, int lower, int higher,
                              Level level) const {
    const AxisUse& use = axes_[axis];
    const bool own = level == Level::Threads ? use.tellsThreads() : use.block;
    std::string text = "(0 = 0)";
    if (own) {
        const Symbol index{level == Level::Threads ? SymbolKind::ThreadIdx : SymbolKind::BlockIdx,
                           axis};
        text += " and " + points.dimension(index, lower) + " < " + points.dimension(index, higher);
    }
    for (const Symbol position : indicesOf(axis, false, false, use.position)) {
        text += " and " + points.dimension(position, lower) + " < " +
                points.dimension(position, higher);
        const Symbol thread{SymbolKind::ThreadIdx, axis};
        if (level == Level::Blocks) // Another block begins at another place.
            text += " and " + points.dimension(position, lower) + " - " +
                    points.dimension(thread, lower) + " < " + points.dimension(position, higher) +
                    " - " + points.dimension(thread, higher);
    }
    return text;
}

std::string RunPairs::sameBlock(PointSet& points) const {
    std::string text;
    for (std::uint8_t axis = 0; axis < 3; ++axis) {
        if (axes_[axis].block) {
            const Symbol block{SymbolKind::BlockIdx, axis};
            text += " and " + points.dimension(block, 0) + " = " + points.dimension(block, 1);
        }
        for (const Symbol position : indicesOf(axis, false, false, axes_[axis].position)) {
            const Symbol thread{SymbolKind::ThreadIdx, axis};
            text += " and " + points.dimension(position, 0) + " - " + points.dimension(thread, 0) +
                    " = " + points.dimension(position, 1) + " - " + points.dimension(thread, 1);
        }
    }
    return text;
}

std::string RunPairs::sameRounds(PointSet& points, NestNodeId first, NestNodeId second) const {
    std::string text;
    std::vector<Symbol> alike;
    for (const NestNodeId id : commonLoops(nest_, first, second)) {
        const NestLoop& loop = *nest_.node(id).loop();
        const bool isAlike = loop.variable == noId || // Then the iterator counts the rounds.
                             (isAlikeInBlock(loop.first, alike) &&
                              (loop.factor.has_value() || isAlikeInBlock(loop.step, alike)));
        if (loop.style != NestLoopStyle::Serial || !isAlike ||
            !areRoundsSeparated(nest_, id, first, second))
            continue;
        alike.push_back(loop.iterator);
        text += " and " + points.dimension(loop.iterator, 0) + " = " +
                points.dimension(loop.iterator, 1);
    }
    return text;
}

bool RunPairs::isAlikeInBlock(const std::optional<IndexExpression>& expression,
                              const std::vector<Symbol>& iterators) const {
    const auto isAlike = [&](Symbol symbol) {
        if (symbol.kind == SymbolKind::BlockIdx || nest_.symbols.isLaunchConstant(symbol) ||
            std::ranges::find(iterators, symbol) != iterators.end())
            return true;
        const NestSymbol* named = nest_.symbols.find(symbol);
        return named != nullptr && named->kind == NestSymbolKind::Derived &&
               named->choice.empty() &&
               std::ranges::all_of(named->operands, [&](const IndexExpression& operand) {
                   return isAlikeInBlock(operand, iterators);
               });
    };
    return expression && std::ranges::all_of(expression->terms(), [&](const auto& term) {
               return std::ranges::all_of(term.first, isAlike);
           });
}

bool RunPairs::isOwnStart(const IndexExpression& first, std::uint8_t axis, Level level) const {
    return std::ranges::all_of(first.terms(), [&](const auto& term) {
        return std::ranges::all_of(term.first, [&](Symbol symbol) {
            const NestSymbol* named = nest_.symbols.find(symbol);
            const bool isIndex =
                symbol.kind == SymbolKind::ThreadIdx || symbol.kind == SymbolKind::BlockIdx;
            // Threads of a block have its index in common.
            return nest_.symbols.isLaunchConstant(symbol) ||
                   (isIndex && (symbol.id == axis || (level == Level::Threads &&
                                                      symbol.kind == SymbolKind::BlockIdx))) ||
                   (named != nullptr && named->kind == NestSymbolKind::Position &&
                    named->axis == axis);
        });
    });
}

std::string RunPairs::otherRounds(PointSet& points, NestNodeId first, NestNodeId second,
                                  std::uint8_t axis, Level level) const {
    std::string text;
    for (const NestNodeId a : around(nest_, first))
        for (const NestNodeId b : around(nest_, second)) {
            const NestLoop* one = nest_.node(a).loop();
            const NestLoop* other = nest_.node(b).loop();
            if (one == nullptr || other == nullptr || one->style != other->style ||
                one->axis != axis || other->axis != axis || one->first != other->first ||
                one->step != other->step)
                continue;
            const bool shares =
                one->style == NestLoopStyle::GridStride ||
                (one->style == NestLoopStyle::BlockStride && level == Level::Threads) ||
                (one->style == NestLoopStyle::BlocksOfGrid && level == Level::Blocks);
            if (!shares || !isOwnStart(*one->first, axis, level))
                continue;
            const std::string left = points.dimension(one->iterator, 0);
            const std::string right = points.dimension(other->iterator, 1);
            text += " and (" + left + " < " + right + " or " + left + " > " + right + ")";
        }
    return text;
}

} // namespace kernelskill::analysis
