#include "analysis/nest/dependences.h"

#include "analysis/nest/phases.h"
#include "analysis/nest/point_set.h"

#include <algorithm>
#include <array>

namespace kernelskill::analysis {

namespace {

/// Questions to isl about one kernel.
constexpr std::size_t maxQuestions = 1000;
constexpr std::size_t maxDependences = 20'000;

bool readsAt(AccessKind kind) {
    return kind != AccessKind::Write;
}

bool writesAt(AccessKind kind) {
    return kind != AccessKind::Read;
}

using Level = NestCarrier::Level;

/// Which built-in indices the nest names along an axis.
struct AxisUse {
    bool thread = false;
    bool block = false;
    bool position = false;

    [[nodiscard]] bool tellsThreads() const { return thread || position; }
    [[nodiscard]] bool tellsBlocks() const { return block || position; }
};

class DependenceFinder {
public:
    DependenceFinder(const Nest& nest, Polyhedra& polyhedra, const std::stop_token& stop,
                     const std::map<Symbol, std::int64_t>& values)
        : nest_(nest), polyhedra_(polyhedra), stop_(stop), values_(values) {
        findAxes();
    }

    /// Finds the dependences of one carrier alone, inside of the loop `crossed`.
    NestDependences findCrossed(const NestCarrier& carrier) {
        only_ = carrier;
        return find();
    }

    NestDependences find() {
        std::vector<NestAccessId> accesses;
        for (NestAccessId id = 0; id < nest_.accesses.size(); ++id)
            if (nest_.accesses[id].node != noId && isAsked(nest_.accesses[id].node))
                accesses.push_back(id);
        std::ranges::stable_sort(accesses, {},
                                 [&](NestAccessId id) { return nest_.accesses[id].node; });
        for (std::size_t i = 0; i < accesses.size(); ++i)
            for (std::size_t j = i; j < accesses.size(); ++j)
                compare(accesses[i], accesses[j]);
        findOverlaps();
        for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
            result_.tellsThreads.at(axis) = axes_.at(axis).tellsThreads();
            result_.tellsBlocks.at(axis) = axes_.at(axis).tellsBlocks();
        }
        return std::move(result_);
    }

private:
    void findAxes() {
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

    /// Whether the node is one that the question is about.
    [[nodiscard]] bool isAsked(NestNodeId node) const {
        if (!only_)
            return true;
        const std::vector<NestNodeId> outer = around(nest_, node);
        return std::ranges::find(outer, only_->crossed) != outer.end();
    }

    void compare(NestAccessId a, NestAccessId b) {
        const NestAccess& first = nest_.accesses[a];
        const NestAccess& second = nest_.accesses[b];
        if (!writesAt(first.kind) && !writesAt(second.kind))
            return;
        if (first.kind == AccessKind::Atomic && second.kind == AccessKind::Atomic)
            return; // Any order serves.
        const std::string unknown =
            whyUnknown(first).empty() ? whyUnknown(second) : whyUnknown(first);
        if (!unknown.empty()) {
            if (first.array == noId || second.array == noId || first.array == second.array)
                reportAll(a, b, unknown);
            return;
        }
        if (first.array != second.array || areOtherFields(first, second))
            return;
        const NestArray& array = nest_.arrays[first.array];
        if (only_) {
            if (!isDeclaredIn(array, only_->crossed))
                testBothWays(a, b, *only_);
            return;
        }
        const bool isOwn = array.isVariable || array.space == MemorySpace::Local;
        if (!isOwn && array.space != MemorySpace::Shared)
            test(a, b, {Level::Blocks, noId});
        if (!isOwn)
            test(a, b, {Level::Threads, noId});
        for (const NestNodeId loop : commonLoops(first.node, second.node)) {
            if (!isDeclaredIn(array, loop))
                testBothWays(a, b, {Level::Loop, loop});
        }
        if (first.node != second.node)
            test(a, b, {Level::Order, noId});
    }

    void testBothWays(NestAccessId a, NestAccessId b, const NestCarrier& carrier) {
        test(a, b, carrier);
        if (a != b)
            test(b, a, carrier);
    }

    /// Why an access may go to other memory than its array and index tell; empty if it does not.
    [[nodiscard]] std::string whyUnknown(const NestAccess& access) const {
        if (access.array == noId)
            return "the address of one is not followed";
        return nest_.arrays[access.array].isLoaded ? "one goes through a pointer read from memory"
                                                   : std::string{};
    }

    void reportAll(NestAccessId a, NestAccessId b, const std::string& reason) {
        if (only_)
            return report(a, b, *only_, NestCertainty::Broken, {}, reason);
        std::vector<NestCarrier> carriers = {{Level::Blocks, noId}, {Level::Threads, noId}};
        for (const NestNodeId loop : commonLoops(nest_.accesses[a].node, nest_.accesses[b].node))
            carriers.push_back({Level::Loop, loop});
        if (nest_.accesses[a].node != nest_.accesses[b].node)
            carriers.push_back({Level::Order, noId});
        for (const NestCarrier& carrier : carriers)
            report(a, b, carrier, NestCertainty::Broken, {}, reason);
    }

    static bool areOtherFields(const NestAccess& a, const NestAccess& b) {
        return !a.field.starts_with(b.field) && !b.field.starts_with(a.field);
    }

    [[nodiscard]] std::vector<NestNodeId> commonLoops(NestNodeId a, NestNodeId b) const {
        std::vector<NestNodeId> loops;
        const std::vector<NestNodeId> other = around(nest_, b);
        for (const NestNodeId id : around(nest_, a))
            if (nest_.node(id).loop() != nullptr && std::ranges::find(other, id) != other.end())
                loops.push_back(id);
        return loops;
    }

    /// A variable that each round has anew.
    [[nodiscard]] bool isDeclaredIn(const NestArray& array, NestNodeId loop) const {
        if (array.space != MemorySpace::Local)
            return false;
        if (array.frame != nest_.node(loop).frame)
            return array.frame > nest_.node(loop).frame; // Of a function that the round calls.
        for (NestNodeId id = 0; id < nest_.nodes.size(); ++id) {
            const NestStatement* statement = nest_.nodes[id].computation();
            if (statement == nullptr || statement->declared != array.variable ||
                nest_.nodes[id].frame != array.frame)
                continue;
            const std::vector<NestNodeId> outer = around(nest_, id);
            return std::ranges::find(outer, loop) != outer.end();
        }
        return false;
    }

    /// A question to isl may leave out some of what is known, which makes sets larger.
    struct Question {
        bool knowsBlocks = false; ///< Blocks have the size that launches of the file tell.
        bool knowsLoops = true;
    };
    [[nodiscard]] std::vector<Question> questions() const {
        if (!values_.empty()) // Numbers and guards are often enough, and loops take isl long.
            return {{false, false}, {false, true}};
        if (std::ranges::none_of(nest_.extents.block, [](const auto& size) { return !!size; }))
            return {{}};
        return {{false, true}, {true, true}};
    }
    void requireDomain(PointSet& points, NestNodeId node, int run, const Question& question) const {
        if (question.knowsLoops)
            return points.requireDomain(node, run);
        for (const NestNodeId id : around(nest_, node))
            if (const NestGuard* guard = nest_.node(id).guard())
                points.require(guard->condition, run);
    }

    void test(NestAccessId a, NestAccessId b, const NestCarrier& carrier) {
        if (nest_.arrays[nest_.accesses[a].array].isVariable) {
            report(a, b, carrier, NestCertainty::Broken, {}, "both are of one variable");
            return;
        }
        if (stop_.stop_requested() || ++questions_ > maxQuestions) {
            result_.isComplete = false;
            return;
        }
        std::vector<std::string> conditions;
        bool isExact = true;
        bool isDecided = true;
        for (const Question& question : questions()) {
            PointSet points(nest_, question.knowsBlocks);
            for (const auto& [symbol, value] : values_)
                points.fix(symbol, value);
            conditions.clear();
            const std::string meet = meeting(points, a, b, carrier, question, conditions);
            const std::string order = relation(points, a, b, carrier, conditions);
            isExact = points.isExact();
            const std::optional<bool> empty =
                polyhedra_.isEmpty(points.text(meet + " and " + order));
            isDecided = empty.has_value();
            if (empty == true) {
                if (question.knowsBlocks)
                    conditions.emplace_back("blocks have the size of the file's launches");
                if (!conditions.empty())
                    report(a, b, carrier, NestCertainty::Likely, conditions, "");
                return;
            }
        }
        report(a, b, carrier, NestCertainty::Broken, {},
               !isDecided ? "whether both go to the same element takes too long to find"
               : isExact  ? "both go to the same element"
                          : "that both go to the same element cannot be excluded");
    }

    /// Where both accesses go to one element.
    [[nodiscard]] std::string meeting(PointSet& points, NestAccessId a, NestAccessId b,
                                      const NestCarrier& carrier, const Question& question,
                                      std::vector<std::string>& conditions) {
        const NestAccess& first = nest_.accesses[a];
        const NestAccess& second = nest_.accesses[b];
        requireDomain(points, first.node, 0, question);
        requireDomain(points, second.node, 1, question);
        points.require(first.condition, 0);
        points.require(second.condition, 1);
        std::string always = "(0 = 0)";
        if (!first.index || !second.index)
            return always;
        const bool sameShape = first.subscripts.size() == second.subscripts.size() &&
                               first.unit == second.unit &&
                               std::ranges::equal(first.subscripts, second.subscripts, {},
                                                  &NestSubscript::extent, &NestSubscript::extent);
        const auto iterators = sameInBothRuns(a, b, carrier);
        std::string equal;
        if (sameShape && values_.empty()) { // Flat indices of one launch need no assumption.
            const std::size_t alike = alikeSubscripts(first, second, iterators);
            for (const NestAccess* access : {&first, &second})
                for (const NestCondition& assumption : access->assumptions)
                    if (const std::string text = nest_.symbols.describe(assumption);
                        isNeeded(*access, assumption, alike) &&
                        std::ranges::find(conditions, text) == conditions.end())
                        conditions.push_back(text);
            for (std::size_t i = 0; i < first.subscripts.size(); ++i)
                equal += equality(points, first.subscripts[i].index, second.subscripts[i].index,
                                  iterators);
        } else if (first.unit == second.unit) {
            equal = equality(points, *first.index, *second.index, iterators);
        } else {
            // Elements of other sizes: bytes that overlap.
            equal = overlap(points, first, second);
        }
        return equal.empty() ? always : equal.substr(5); // Without the leading " and ".
    }

    /// The number of leading subscripts that have one value in both runs, by `iterators`.
    [[nodiscard]] std::size_t
    alikeSubscripts(const NestAccess& a, const NestAccess& b,
                    const std::optional<std::vector<Symbol>>& iterators) const {
        std::size_t count = 0;
        while (iterators && count < a.subscripts.size() &&
               a.subscripts[count].index == b.subscripts[count].index &&
               isSame(a.subscripts[count].index, *iterators))
            ++count;
        return count;
    }

    /// Whether the split into dimensions tells elements apart only if the assumption holds. What
    /// `alike` leading subscripts contribute is the same in both runs, so that neither they nor
    /// the one behind them have to be within their extents.
    [[nodiscard]] static bool isNeeded(const NestAccess& access, const NestCondition& assumption,
                                       std::size_t alike) {
        bool isOfLeading = false;
        for (std::size_t i = 0; i < access.subscripts.size(); ++i) {
            const NestSubscript& subscript = access.subscripts[i];
            const bool isAbout =
                subscript.extent &&
                (assumption == NestCondition::notNegative(subscript.index) ||
                 assumption ==
                     NestCondition::notNegative(*subscript.extent - IndexExpression::constant(1) -
                                                subscript.index));
            if (isAbout && i > alike)
                return true;
            isOfLeading = isOfLeading || isAbout;
        }
        return !isOfLeading;
    }

    /// The iterators that have one value in both runs of a thread that the carrier tells apart;
    /// nullopt: they are runs of two threads.
    [[nodiscard]] std::optional<std::vector<Symbol>>
    sameInBothRuns(NestAccessId a, NestAccessId b, const NestCarrier& carrier) const {
        if (carrier.level == Level::Blocks || carrier.level == Level::Threads)
            return std::nullopt;
        std::vector<Symbol> same;
        for (const NestNodeId loop : commonLoops(nest_.accesses[a].node, nest_.accesses[b].node)) {
            if (loop == carrier.loop)
                break;
            same.push_back(nest_.node(loop).loop()->iterator);
        }
        return same;
    }

    /// Whether the symbol has one value in both runs of a thread; of iterators, `iterators` have.
    [[nodiscard]] bool isSame(Symbol symbol, const std::vector<Symbol>& iterators) const {
        const NestSymbol* named = nest_.symbols.find(symbol);
        if (named == nullptr)
            return isBuiltIn(symbol) || nest_.symbols.isLaunchConstant(symbol);
        switch (named->kind) {
        case NestSymbolKind::Parameter:
        case NestSymbolKind::Position:
            return true;
        case NestSymbolKind::Iterator:
            return std::ranges::find(iterators, symbol) != iterators.end();
        case NestSymbolKind::Value:
            return false;
        case NestSymbolKind::Derived:
            break;
        }
        return named->choice.empty() &&
               std::ranges::all_of(named->operands, [&](const IndexExpression& operand) {
                   return isSame(operand, iterators);
               });
    }
    [[nodiscard]] bool isSame(const IndexExpression& expression,
                              const std::vector<Symbol>& iterators) const {
        return std::ranges::all_of(expression.terms(), [&](const auto& term) {
            return std::ranges::all_of(term.first,
                                       [&](Symbol part) { return isSame(part, iterators); });
        });
    }

    /// That a = b; empty where it is not linear. Terms of one value in both runs, by `iterators`,
    /// are taken off both sides first: they may be products, which are not linear.
    [[nodiscard]] std::string equality(PointSet& points, const IndexExpression& a,
                                       const IndexExpression& b,
                                       const std::optional<std::vector<Symbol>>& iterators) const {
        IndexExpression alike;
        if (iterators)
            for (const auto& [monomial, coefficient] : a.terms()) {
                const auto other = b.terms().find(monomial);
                if (other == b.terms().end() || other->second != coefficient ||
                    !std::ranges::all_of(monomial,
                                         [&](Symbol symbol) { return isSame(symbol, *iterators); }))
                    continue;
                IndexExpression term = IndexExpression::constant(coefficient);
                for (const Symbol symbol : monomial)
                    term = term * IndexExpression::symbol(symbol);
                alike = alike + term;
            }
        const auto left = points.linear(a - alike, 0);
        const auto right = points.linear(b - alike, 1);
        if (left && right)
            return " and (" + *left + " = " + *right + ")";
        points.markInexact();
        return {};
    }

    static std::string overlap(PointSet& points, const NestAccess& a, const NestAccess& b) {
        const auto unitA = static_cast<std::int64_t>(a.unit);
        const auto unitB = static_cast<std::int64_t>(b.unit);
        const auto left = points.linear(IndexExpression::constant(unitA) * *a.index, 0);
        const auto right = points.linear(IndexExpression::constant(unitB) * *b.index, 1);
        if (!left || !right || unitA == 0 || unitB == 0) {
            points.markInexact();
            return {};
        }
        return " and (" + *left + " < " + *right + " + " + std::to_string(unitB) + " and " +
               *right + " < " + *left + " + " + std::to_string(unitA) + ")";
    }

    /// That the second run is another one than the first as the carrier tells.
    [[nodiscard]] std::string relation(PointSet& points, NestAccessId a, NestAccessId b,
                                       const NestCarrier& carrier,
                                       std::vector<std::string>& conditions) {
        const NestNodeId first = nest_.accesses[a].node;
        const NestNodeId second = nest_.accesses[b].node;
        if (carrier.level == Level::Blocks || carrier.level == Level::Threads)
            return otherThread(points, first, second, carrier.level, conditions);
        std::string text = sameThread(points);
        for (const NestNodeId loop : commonLoops(first, second)) {
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

    /// That the run `second` has a later round of the loop than the run `first`.
    [[nodiscard]] std::string isLater(PointSet& points, NestNodeId id, int first,
                                      int second) const {
        const NestLoop& loop = *nest_.node(id).loop();
        return points.dimension(loop.iterator, first) + (loop.isDownward ? " > " : " < ") +
               points.dimension(loop.iterator, second);
    }

    [[nodiscard]] std::vector<Symbol> indicesOf(std::uint8_t axis, bool thread, bool block,
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

    [[nodiscard]] std::string sameThread(PointSet& points) const {
        std::string text = "(0 = 0)";
        for (std::uint8_t axis = 0; axis < 3; ++axis)
            for (const Symbol symbol : indicesOf(axis, axes_[axis].tellsThreads(),
                                                 axes_[axis].block, axes_[axis].position))
                text += " and " + points.dimension(symbol, 0) + " = " + points.dimension(symbol, 1);
        return text;
    }

    [[nodiscard]] std::string otherThread(PointSet& points, NestNodeId first, NestNodeId second,
                                          Level level, std::vector<std::string>& conditions) {
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

    /// Run `lower` has the smaller index along the axis.
    [[nodiscard]] std::string differs(PointSet& points, std::uint8_t axis, int lower, int higher,
                                      Level level) const {
        const AxisUse& use = axes_[axis];
        const bool own = level == Level::Threads ? use.tellsThreads() : use.block;
        std::string text = "(0 = 0)";
        if (own) {
            const Symbol index{
                level == Level::Threads ? SymbolKind::ThreadIdx : SymbolKind::BlockIdx, axis};
            text +=
                " and " + points.dimension(index, lower) + " < " + points.dimension(index, higher);
        }
        for (const Symbol position : indicesOf(axis, false, false, use.position)) {
            text += " and " + points.dimension(position, lower) + " < " +
                    points.dimension(position, higher);
            const Symbol thread{SymbolKind::ThreadIdx, axis};
            if (level == Level::Blocks) // Another block begins at another place.
                text += " and " + points.dimension(position, lower) + " - " +
                        points.dimension(thread, lower) + " < " +
                        points.dimension(position, higher) + " - " +
                        points.dimension(thread, higher);
        }
        return text;
    }

    [[nodiscard]] std::string sameBlock(PointSet& points) const {
        std::string text;
        for (std::uint8_t axis = 0; axis < 3; ++axis) {
            if (axes_[axis].block) {
                const Symbol block{SymbolKind::BlockIdx, axis};
                text += " and " + points.dimension(block, 0) + " = " + points.dimension(block, 1);
            }
            for (const Symbol position : indicesOf(axis, false, false, axes_[axis].position)) {
                const Symbol thread{SymbolKind::ThreadIdx, axis};
                text += " and " + points.dimension(position, 0) + " - " +
                        points.dimension(thread, 0) + " = " + points.dimension(position, 1) +
                        " - " + points.dimension(thread, 1);
            }
        }
        return text;
    }

    /// Requires both runs to be in the same round of each loop whose rounds barriers separate.
    [[nodiscard]] std::string sameRounds(PointSet& points, NestNodeId first,
                                         NestNodeId second) const {
        std::string text;
        std::vector<Symbol> alike;
        for (const NestNodeId id : commonLoops(first, second)) {
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

    /// Whether the expression has the same value in all threads of a block, given that `iterators`
    /// have. False if there is none.
    [[nodiscard]] bool isAlikeInBlock(const std::optional<IndexExpression>& expression,
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

    /// Whether the threads that a loop is shared by begin apart and nothing else moves its start.
    [[nodiscard]] bool isOwnStart(const IndexExpression& first, std::uint8_t axis,
                                  Level level) const {
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

    /// Threads that share the rounds of a loop never have the same one.
    [[nodiscard]] std::string otherRounds(PointSet& points, NestNodeId first, NestNodeId second,
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

    void report(NestAccessId a, NestAccessId b, const NestCarrier& carrier, NestCertainty certainty,
                std::vector<std::string> conditions, std::string reason) {
        const AccessKind first = nest_.accesses[a].kind;
        const AccessKind second = nest_.accesses[b].kind;
        NestDependence dependence;
        dependence.from = a;
        dependence.to = b;
        dependence.carrier = carrier;
        dependence.independence = certainty;
        dependence.conditions = std::move(conditions);
        dependence.reason = std::move(reason);
        dependence.isSynchronised =
            carrier.level == Level::Threads &&
            isSeparatedByBarrier(nest_, nest_.accesses[a].node, nest_.accesses[b].node);
        const NestStatement* statement = nest_.node(nest_.accesses[a].node).computation();
        dependence.isReduction =
            nest_.accesses[a].node == nest_.accesses[b].node && !statement->reduction.empty();
        const std::array<std::pair<NestDependenceKind, bool>, 3> kinds = {
            {{NestDependenceKind::Flow, writesAt(first) && readsAt(second)},
             {NestDependenceKind::Anti, readsAt(first) && writesAt(second)},
             {NestDependenceKind::Output, writesAt(first) && writesAt(second)}}};
        for (const auto& [kind, holds] : kinds) {
            if (!holds)
                continue;
            if (result_.dependences.size() >= maxDependences) {
                result_.isComplete = false;
                return;
            }
            dependence.kind = kind;
            result_.dependences.push_back(dependence);
        }
    }

    void findOverlaps() {
        std::vector<bool> read(nest_.arrays.size());
        std::vector<bool> written(nest_.arrays.size());
        for (const NestAccess& access : nest_.accesses) {
            if (access.node == noId || access.array == noId)
                continue;
            read[access.array] = read[access.array] || readsAt(access.kind);
            written[access.array] = written[access.array] || writesAt(access.kind);
        }
        const auto isPassed = [&](const NestArray& array) {
            return !array.isVariable && !array.isRestrict &&
                   (array.space == MemorySpace::Global || array.space == MemorySpace::Generic);
        };
        // All `extern __shared__` arrays begin at one address.
        const auto isDynamic = [&](const NestArray& array) {
            return array.space == MemorySpace::Shared && array.extents.size() == 1 &&
                   array.extents.front() < 0;
        };
        for (NestArrayId a = 0; a < nest_.arrays.size(); ++a)
            for (NestArrayId b = a + 1; b < nest_.arrays.size(); ++b) {
                const bool meets =
                    (written[a] && (written[b] || read[b])) || (written[b] && read[a]);
                const NestArray& one = nest_.arrays[a];
                const NestArray& other = nest_.arrays[b];
                if (meets &&
                    ((isPassed(one) && isPassed(other)) || (isDynamic(one) && isDynamic(other))))
                    result_.overlaps.push_back({a, b});
            }
    }

    const Nest& nest_;
    Polyhedra& polyhedra_;
    const std::stop_token& stop_;
    const std::map<Symbol, std::int64_t>& values_;
    std::array<AxisUse, 3> axes_;
    std::optional<NestCarrier> only_; ///< The one that is asked for; nullopt: all.
    NestDependences result_;
    std::size_t questions_ = 0;
};

} // namespace

NestDependences dependencesOf(const Nest& nest, Polyhedra& polyhedra, const std::stop_token& stop,
                              const std::map<Symbol, std::int64_t>& values) {
    return DependenceFinder(nest, polyhedra, stop, values).find();
}

NestDependences crossedDependences(const Nest& nest, Polyhedra& polyhedra, NestNodeId outer,
                                   NestNodeId inner) {
    const std::stop_token stop;
    const std::map<Symbol, std::int64_t> values;
    return DependenceFinder(nest, polyhedra, stop, values).findCrossed({Level::Loop, outer, inner});
}

} // namespace kernelskill::analysis
