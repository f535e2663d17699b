#include "engine/generate/array_extent.h"

#include "analysis/queries/code_map.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>

namespace kernelskill::engine {

using namespace analysis;
using skills::Refusal;

namespace {

/// Finds the accesses that run in every iteration of the loops around them.
class CertainAccesses {
public:
    explicit CertainAccesses(const KernelModel& function) : function_(function) {
        if (function.body.root != noId)
            walk(function.body.root, found_);
    }

    [[nodiscard]] bool contains(const MemoryAccess& access) const {
        return found_.contains(&access);
    }

private:
    using Found = std::set<const MemoryAccess*>;

    /// Returns false if the following statements may be skipped.
    bool walk(StmtId id, Found& found) const {
        const Stmt& stmt = function_.body.stmt(id);
        switch (stmt.kind) {
        case StmtKind::Compound:
            return std::ranges::all_of(stmt.children,
                                       [&](StmtId child) { return walk(child, found); });
        case StmtKind::Declaration:
            for (const VariableId variable : stmt.declared)
                collect(function_.body.variable(variable).init, found);
            return true;
        case StmtKind::Expression:
            collect(stmt.expr, found);
            return true;
        case StmtKind::If:
            return walkIf(stmt, found);
        case StmtKind::For:
            if (stmt.init != noId)
                walk(stmt.init, found);
            collect(stmt.condition, found);
            walk(stmt.children.front(), found);
            return true;
        case StmtKind::While:
            collect(stmt.condition, found);
            return true;
        case StmtKind::Null:
            return true;
        default: // Statements that leave, and statements that are not examined.
            return false;
        }
    }

    bool walkIf(const Stmt& stmt, Found& found) const {
        collect(stmt.condition, found);
        std::vector<Found> arms(stmt.children.size());
        bool goesOn = true;
        for (std::size_t arm = 0; arm < arms.size(); ++arm)
            goesOn = walk(stmt.children[arm], arms[arm]) && goesOn;
        if (arms.size() == 2)
            for (const MemoryAccess* access : arms[0])
                if (std::ranges::any_of(arms[1], [&](const MemoryAccess* other) {
                        return other->base == access->base && other->index == access->index &&
                               other->kind == access->kind;
                    }))
                    found.insert(access);
        return goesOn;
    }

    void collect(ExprId id, Found& found) const {
        if (id == noId)
            return;
        for (const MemoryAccess& access : function_.accesses)
            if (access.expression == id)
                found.insert(&access);
        const Expr& expr = function_.body.expr(id);
        const bool mayStop =
            expr.kind == ExprKind::Conditional ||
            (expr.kind == ExprKind::Binary && (expr.op == "&&" || expr.op == "||"));
        for (const ExprId child : expr.children) {
            collect(child, found);
            if (mayStop)
                return;
        }
    }

    const KernelModel& function_;
    Found found_;
};

/// Whether the loops around a write cover every element from 0 to `elements`: one counts the
/// elements of a row, the next one the rows, and so on.
bool coversAll(IndexExpression index, std::vector<LoopRange> loops,
               const IndexExpression& elements) {
    IndexExpression stride = IndexExpression::constant(1);
    while (true) {
        const auto next = std::ranges::find_if(loops, [&](const LoopRange& loop) {
            const auto factor = index.coefficientOf(loop.variable);
            return loop.step == 1 && factor && *factor == stride;
        });
        if (next == loops.end())
            return index == IndexExpression{} && stride == elements;
        const bool isRectangular = next->first == IndexExpression{} &&
                                   std::ranges::none_of(next->last.terms(), [](const auto& term) {
                                       return std::ranges::any_of(term.first, [](Symbol symbol) {
                                           return symbol.kind == SymbolKind::LoopVariable;
                                       });
                                   });
        if (!isRectangular)
            return false;
        index = index - stride * IndexExpression::symbol(next->variable);
        stride = stride * (next->last + IndexExpression::constant(1));
        loops.erase(next);
    }
}

class ExtentFinder {
public:
    ExtentFinder(const SourceText& source, const KernelModel& function,
                 const analysis::CodeMap& code, const LoopDependence& dependence,
                 const std::vector<StmtId>& nests)
        : source_(source), function_(function), code_(code), dependence_(dependence), nests_(nests),
          certain_(function), every_(dependence.everyLoop()) {}

    std::expected<std::optional<ArrayUse>, Refusal> find(std::uint32_t number) const {
        const Parameter& parameter = function_.parameters[number];
        ArrayUse use{number, {}, false, false, false, true};
        std::optional<IndexExpression> elements;
        const MemoryAccess* last = nullptr;
        for (const MemoryAccess& access : function_.accesses) {
            if (access.base != parameter.variable || nestOf(access) == noId)
                continue;
            last = &access;
            use.isRead = use.isRead || access.kind != AccessKind::Write;
            use.isWritten = use.isWritten || access.kind != AccessKind::Read;
            const auto space = dependence_.spaceOf(access);
            if (!access.index || access.index->hasOpaque() || !space ||
                access.width != parameter.type.elementSize)
                return refusal("unknown-index", access,
                               "is no sum of products of loop variables and parameters");
            if (!certain_.contains(access))
                continue;
            const auto high = space->largest(*access.index);
            const auto low = space->smallest(*access.index);
            if (!high || !low)
                return refusal("unknown-extent", access, "has no largest index that can be told");
            if (!every_.isNeverNegative(*low))
                return refusal("negative-index", access, "is not proved to stay at or above 0");
            const IndexExpression end = *high + IndexExpression::constant(1);
            if (!elements || every_.isNeverNegative(end - *elements))
                elements = end;
            else if (!every_.isNeverNegative(*elements - end))
                return refusal("unknown-extent", access,
                               "may or may not be the last element that is touched");
        }
        if (last == nullptr)
            return std::nullopt;
        if (!elements)
            return refusal(
                "unknown-extent", *last,
                "is touched under conditions only, so how many elements there are is not known");
        use.elements = *elements;
        const MemoryAccess* whole = wholeWrite(parameter.variable, *elements);
        use.isWrittenWhole = whole != nullptr;
        use.needsValues = whole == nullptr || isTouchedBefore(*whole);
        return use;
    }

private:
    /// The nest that contains it; noId if there is none.
    [[nodiscard]] StmtId nestOf(const MemoryAccess& access) const {
        const auto found = std::ranges::find_if(
            nests_, [&](StmtId nest) { return code_.holds(nest, access.expression); });
        return found == nests_.end() ? noId : *found;
    }

    /// The first write that covers all elements; null if there is none.
    [[nodiscard]] const MemoryAccess* wholeWrite(VariableId array,
                                                 const IndexExpression& elements) const {
        const auto found =
            std::ranges::find_if(function_.accesses, [&](const MemoryAccess& access) {
                if (access.base != array || access.kind != AccessKind::Write ||
                    nestOf(access) == noId || !certain_.contains(access))
                    return false;
                std::vector<LoopRange> loops;
                for (const std::uint32_t loop : access.loops)
                    if (auto range = dependence_.range(loop))
                        loops.push_back(std::move(*range));
                return coversAll(*access.index, std::move(loops), elements);
            });
        return found == function_.accesses.end() ? nullptr : &*found;
    }

    /// Whether an element may be read before `write` sets it. Nests run one after the other. Within
    /// a nest, a later read of the same element in the same iteration reads the written value.
    [[nodiscard]] bool isTouchedBefore(const MemoryAccess& write) const {
        const auto span = [&](const MemoryAccess& access) {
            return function_.body.stmt(code_.statement(access.expression)).span;
        };
        const StmtId nest = nestOf(write);
        return std::ranges::any_of(function_.accesses, [&](const MemoryAccess& other) {
            const StmtId at = nestOf(other);
            if (other.base != write.base || other.kind == AccessKind::Write || at == noId ||
                function_.body.stmt(at).span.begin > function_.body.stmt(nest).span.begin)
                return false;
            return at != nest || other.index != write.index || other.loops != write.loops ||
                   span(other).begin < span(write).end;
        });
    }

    [[nodiscard]] std::unexpected<Refusal> refusal(std::string gate, const MemoryAccess& access,
                                                   std::string_view what) const {
        const Span span = function_.body.expr(access.expression).span;
        return std::unexpected(
            Refusal{std::move(gate), fmt::format("'{}' on line {} {}", source_.slice(span),
                                                 source_.lineColumn(span.begin).line + 1, what)});
    }

    const SourceText& source_;
    const KernelModel& function_;
    const analysis::CodeMap& code_;
    const LoopDependence& dependence_;
    const std::vector<StmtId>& nests_;
    CertainAccesses certain_;
    IterationSpace every_;
};

} // namespace

std::expected<std::vector<ArrayUse>, Refusal>
findArrayUses(const SourceText& source, const KernelModel& function, const analysis::CodeMap& code,
              const LoopDependence& dependence, const std::vector<StmtId>& nests) {
    const ExtentFinder finder(source, function, code, dependence, nests);
    std::vector<ArrayUse> uses;
    for (std::uint32_t number = 0; number < function.parameters.size(); ++number) {
        if (function.parameters[number].type.pointerDepth == 0)
            continue;
        auto use = finder.find(number);
        if (!use)
            return std::unexpected(std::move(use.error()));
        if (*use)
            uses.push_back(std::move(**use));
    }
    return uses;
}

} // namespace kernelskill::engine
