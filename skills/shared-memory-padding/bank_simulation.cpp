#include "skills/shared-memory-padding/bank_simulation.h"

#include "analysis/model/integer_arithmetic.h"

#include <algorithm>
#include <array>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::int64_t bankCount = 32;
constexpr std::int64_t wordBytes = 4;
constexpr int maximumDepth = 24;

/// Wavefronts of lanes that go out together: the most distinct words that one bank must give.
/// `words` is room to work in.
std::size_t wavefronts(std::span<const std::int64_t> addresses, std::uint32_t bytes,
                       std::vector<std::int64_t>& words) {
    words.clear();
    for (const std::int64_t address : addresses)
        for (std::int64_t word = address / wordBytes;
             word <= (address + static_cast<std::int64_t>(bytes) - 1) / wordBytes; ++word)
            words.push_back(word);
    std::ranges::sort(words);
    std::array<std::size_t, bankCount> wordsOfBank{};
    const auto repeated = std::ranges::unique(words);
    for (auto word = words.begin(); word != repeated.begin(); ++word)
        ++wordsOfBank[static_cast<std::size_t>(*word % bankCount)];
    return std::ranges::max(wordsOfBank);
}

} // namespace

double conflictDegree(std::span<const std::int64_t> addresses, std::uint32_t bytes) {
    if (addresses.empty() || bytes == 0)
        return 1;
    const std::size_t parts = std::max<std::size_t>(1, bytes / wordBytes);
    const std::size_t together = std::max<std::size_t>(1, warpSize / parts);
    std::size_t total = 0;
    std::size_t requests = 0;
    std::vector<std::int64_t> words;
    for (std::size_t begin = 0; begin < addresses.size(); begin += together) {
        total += wavefronts(addresses.subspan(begin, std::min(together, addresses.size() - begin)),
                            bytes, words);
        ++requests;
    }
    return static_cast<double>(total) / static_cast<double>(requests);
}

std::optional<std::int64_t> LaneEvaluator::value(ExprId expr, std::int64_t thread) const {
    const auto result = evaluate(expr, thread, 0);
    return result ? std::optional(result->number) : std::nullopt;
}

std::optional<LaneEvaluator::Value> LaneEvaluator::evaluate(ExprId id, std::int64_t thread,
                                                            int depth) const {
    if (depth > maximumDepth)
        return std::nullopt;
    const Expr& expr = code_.body().expr(id);
    switch (expr.kind) {
    case ExprKind::Integer:
        return Value{expr.integer, false, false};
    case ExprKind::Cast:
        return evaluate(expr.children[0], thread, depth + 1);
    case ExprKind::BuiltinIndex:
        if (expr.name == "threadIdx") {
            const std::array<std::int64_t, 3> index = {thread % block_[0],
                                                       thread / block_[0] % block_[1],
                                                       thread / (block_[0] * block_[1])};
            return Value{index[expr.axis % 3], false, true};
        }
        if (expr.name == "blockDim")
            return Value{block_[expr.axis % 3], false, false};
        return Value{0, true, false};
    case ExprKind::Variable:
        return variable(id, thread, depth);
    case ExprKind::Unary: {
        auto value = evaluate(expr.children[0], thread, depth + 1);
        if (!value || expr.op != "-")
            return std::nullopt;
        value->number = -value->number;
        return value;
    }
    case ExprKind::Binary:
        return expr.children.size() == 2 ? binary(expr, thread, depth) : std::nullopt;
    default:
        return std::nullopt;
    }
}

std::optional<LaneEvaluator::Value> LaneEvaluator::variable(ExprId use, std::int64_t thread,
                                                            int depth) const {
    const VariableId id = code_.body().expr(use).variable;
    if (id == noId)
        return std::nullopt;
    const Variable& variable = code_.body().variable(id);
    if (variable.constantValue)
        return Value{*variable.constantValue, false, false};
    if (variable.type.pointerDepth > 0 || variable.type.isReference)
        return std::nullopt;
    // A loop's variable starts where all lanes know it and advances by the same for each.
    const auto loop = std::ranges::find(kernel_.loops, id, &Loop::inductionVariable);
    if (loop != kernel_.loops.end() && code_.holds(loop->statement, use)) {
        if (loop->lowerBound == noId)
            return std::nullopt;
        auto start = evaluate(loop->lowerBound, thread, depth + 1);
        if (start)
            start->isUnknownShare = true;
        const bool addsSameAmount = loop->stepOperator == "+=" || loop->stepOperator == "-=";
        return addsSameAmount || (start && !start->dependsOnThread) ? start : std::nullopt;
    }
    if (code_.isEverWritten(id))
        return std::nullopt;
    if (variable.storage == Storage::Parameter || variable.storage == Storage::HostGlobal ||
        variable.storage == Storage::Constant)
        return Value{0, true, false};
    if (variable.storage == Storage::Local && variable.init != noId)
        return evaluate(variable.init, thread, depth + 1);
    return std::nullopt;
}

std::optional<LaneEvaluator::Value> LaneEvaluator::binary(const Expr& expr, std::int64_t thread,
                                                          int depth) const {
    const auto left = evaluate(expr.children[0], thread, depth + 1);
    const auto right = evaluate(expr.children[1], thread, depth + 1);
    if (!left || !right)
        return std::nullopt;
    Value result;
    result.isUnknownShare = left->isUnknownShare || right->isUnknownShare;
    result.dependsOnThread = left->dependsOnThread || right->dependsOnThread;
    const bool isSum = expr.op == "+" || expr.op == "-";
    // An unknown that meets a thread's value in anything but a sum changes lanes differently.
    if (!isSum && result.isUnknownShare)
        return result.dependsOnThread ? std::nullopt : std::optional(result);
    const auto number = integerResult(expr.op, left->number, right->number);
    if (!number)
        return std::nullopt;
    result.number = *number;
    return result;
}

namespace {

/// Whether all lanes of a warp have the same number for the symbol.
bool isShared(const Nest& nest, Symbol symbol, int depth = 0) {
    if (isBuiltIn(symbol))
        return symbol.kind != SymbolKind::ThreadIdx;
    const NestSymbol* named = nest.symbols.find(symbol);
    if (named == nullptr || depth > maximumDepth)
        return false;
    if (named->kind == NestSymbolKind::Parameter)
        return true;
    if (named->kind != NestSymbolKind::Iterator)
        return nest.symbols.isLaunchConstant(symbol);
    return std::ranges::any_of(nest.nodes, [&](const NestNode& node) {
        const NestLoop* loop = node.loop();
        return loop != nullptr && loop->iterator == symbol && loop->first &&
               std::ranges::all_of(loop->first->terms(), [&](const auto& term) {
                   return std::ranges::all_of(
                       term.first, [&](Symbol part) { return isShared(nest, part, depth + 1); });
               });
    });
}

} // namespace

std::optional<std::int64_t> laneValue(const Nest& nest, const IndexExpression& index,
                                      const std::array<std::int64_t, 3>& block,
                                      std::int64_t thread) {
    const std::array<std::int64_t, 3> place = {thread % block[0], thread / block[0] % block[1],
                                               thread / (block[0] * block[1])};
    std::int64_t total = 0;
    for (const auto& [monomial, factor] : index.terms()) {
        if (std::ranges::all_of(monomial, [&](Symbol symbol) { return isShared(nest, symbol); })) {
            total += monomial.empty() ? factor : 0;
            continue;
        }
        const NestSymbol* named =
            monomial.size() == 1 ? nest.symbols.find(monomial.front()) : nullptr;
        const bool isPosition = named != nullptr && named->kind == NestSymbolKind::Position;
        const bool isThread = monomial.size() == 1 && isBuiltIn(monomial.front()) &&
                              monomial.front().kind == SymbolKind::ThreadIdx;
        if (!isPosition && !isThread)
            return std::nullopt;
        total += factor * place[(isPosition ? named->axis : monomial.front().id) % 3];
    }
    return total;
}

} // namespace kernelskill::skills
