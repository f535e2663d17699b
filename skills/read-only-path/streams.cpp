#include "skills/read-only-path/streams.h"

#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"
#include "skills/gates/vector_types.h"
#include "skills/read-only-path/cached_types.h"
#include "skills/schedule/nest_queries.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class StreamFinder {
public:
    explicit StreamFinder(const SkillContext& context)
        : context_(context), code_(context.code()), body_(code_.body()),
          nest_(context.shared().nest()) {}

    Gated<Streams> find() {
        for (NestAccessId id = 0; id < nest_.accesses.size() && found_.gathered == noId; ++id)
            if (isGathered(nest_.accesses[id]))
                found_.gathered = id;
        if (found_.gathered == noId)
            return refuse("no-gather", fmt::format("{} reads no array at places that it reads from "
                                                   "memory: nothing competes for the caches",
                                                   context_.kernel.name));
        for (NestAccessId id = 0; id < nest_.accesses.size(); ++id)
            if (isStreamed(id))
                take(id);
        if (found_.loads.empty())
            return refuse("no-streams",
                          fmt::format("beside {} no array is read once, by lanes side by side",
                                      nest_.arrays[nest_.accesses[found_.gathered].array].name));
        return std::move(found_);
    }

private:
    [[nodiscard]] bool isGlobal(const NestAccess& access) const {
        if (access.array == noId || isThreadsOwn(nest_, access))
            return false;
        const MemorySpace space = nest_.arrays[access.array].space;
        return space == MemorySpace::Global || space == MemorySpace::Generic;
    }

    [[nodiscard]] bool isGathered(const NestAccess& access) const {
        return isGlobal(access) && access.form == NestAccessForm::Indirect &&
               access.kind == AccessKind::Read && access.index &&
               (hasOwnNumber(*access.index) || isReadAgain(access)) &&
               std::ranges::none_of(nest_.accesses, [&](const NestAccess& other) {
                   return other.array == access.array && other.kind != AccessKind::Read;
               });
    }

    /// Whether a number read from memory decides the place, and no position beside it.
    [[nodiscard]] bool hasOwnNumber(const IndexExpression& index) const {
        bool isLoaded = false;
        for (const auto& [monomial, factor] : index.terms())
            for (const Symbol symbol : monomial) {
                const NestSymbol* named = nest_.symbols.find(symbol);
                if (named != nullptr && named->kind == NestSymbolKind::Value)
                    isLoaded = true;
                else if (differsInLanes(symbol))
                    return false;
            }
        return isLoaded;
    }

    /// Whether the index comes from memory and the array is read at further places, so that threads
    /// use again what another one has loaded into the caches.
    [[nodiscard]] bool isReadAgain(const NestAccess& access) const {
        const auto further = std::ranges::count_if(nest_.accesses, [&](const NestAccess& other) {
            return other.array == access.array && other.index != access.index;
        });
        return further >= 2 && nest_.symbols.contains(*access.index, NestSymbolKind::Value);
    }

    [[nodiscard]] bool isStreamed(NestAccessId id) const {
        const NestAccess& access = nest_.accesses[id];
        return isAlongLanes(access) &&
               std::ranges::all_of(nest_.accesses, [&](const NestAccess& other) {
                   return other.array != access.array || &other == &access ||
                          (other.kind == access.kind && isAlongLanes(other) &&
                           !(*other.index - *access.index).asConstant());
               });
    }

    /// Whether lanes go to neighbouring elements, and rounds of loops to new ones.
    [[nodiscard]] bool isAlongLanes(const NestAccess& access) const {
        if (!isGlobal(access) || access.frame != 0 || access.expression == noId ||
            !access.field.empty() || !access.index || access.unit != access.width ||
            (access.form != NestAccessForm::Affine && access.form != NestAccessForm::Parametric) ||
            (access.kind != AccessKind::Read && access.kind != AccessKind::Write))
            return false;
        return hasNeighbouringLanes(*access.index) && isOnce(access) &&
               hasCacheHints(body_.expr(access.expression).type);
    }

    /// Whether a step along x, or to the next round that lanes share out, is one element.
    [[nodiscard]] bool hasNeighbouringLanes(const IndexExpression& index) const {
        std::int64_t step = 0;
        for (const auto& [monomial, factor] : index.terms())
            for (const Symbol symbol : monomial) {
                if (!differsInLanes(symbol))
                    continue;
                // A remainder comes back to the same elements, and a quotient stays with one.
                const NestSymbol* named = nest_.symbols.find(symbol);
                if (monomial.size() != 1 ||
                    (named != nullptr && named->kind == NestSymbolKind::Derived))
                    return false;
                step += factor;
            }
        return step == 1;
    }
    [[nodiscard]] bool differsInLanes(Symbol symbol) const {
        if (isBuiltIn(symbol))
            return symbol.kind == SymbolKind::ThreadIdx && symbol.id == 0;
        const NestSymbol* named = nest_.symbols.find(symbol);
        if (named == nullptr)
            return true;
        if (named->kind == NestSymbolKind::Position)
            return named->axis == 0;
        if (named->kind == NestSymbolKind::Iterator) {
            const NestLoop* loop = loopOf(nest_, symbol);
            return loop != nullptr && loop->style != NestLoopStyle::Serial &&
                   loop->style != NestLoopStyle::BlocksOfGrid && loop->axis == 0;
        }
        return named->kind == NestSymbolKind::Derived || named->kind == NestSymbolKind::Value;
    }

    /// Whether every round of the loops around it goes to another element.
    [[nodiscard]] bool isOnce(const NestAccess& access) const {
        return std::ranges::all_of(around(nest_, access.node), [&](NestNodeId id) {
            const NestLoop* loop = nest_.node(id).loop();
            return loop == nullptr || access.index->dependsOn(loop->iterator);
        });
    }

    void take(NestAccessId id) {
        const NestAccess& access = nest_.accesses[id];
        const Expr& expr = body_.expr(access.expression);
        const bool isPlain =
            expr.kind == ExprKind::Subscript || (expr.kind == ExprKind::Unary && expr.op == "*");
        const ExprId above = code_.parent(access.expression);
        if (!isPlain || expr.fromMacro || expr.type.isVolatile ||
            readOnlyLoadAround(code_, access.expression) != noId)
            return;
        const bool isAddressTaken = above != noId && body_.expr(above).kind == ExprKind::Unary &&
                                    body_.expr(above).op == "&";
        if (isAddressTaken)
            return;
        if (access.kind == AccessKind::Read)
            found_.loads.push_back({id, access.expression, noId, {}});
        else
            takeStore(id, above);
    }

    /// Takes a store if it is a statement `x[i] = value;`.
    void takeStore(NestAccessId id, ExprId above) {
        if (above == noId || code_.parent(above) != noId)
            return;
        const ExprId target = nest_.accesses[id].expression;
        const Expr& assignment = body_.expr(above);
        const StmtId statement = code_.statement(above);
        if (assignment.kind != ExprKind::Binary || assignment.op != "=" ||
            assignment.children[0] != target || assignment.fromMacro || statement == noId ||
            body_.stmt(statement).kind != StmtKind::Expression ||
            body_.stmt(statement).expr != above ||
            body_.expr(assignment.children[1]).kind == ExprKind::InitList)
            return;
        const std::uint32_t end = body_.expr(target).span.end;
        const std::vector<Token> tokens =
            lex(context_.file.source->text(), {end, assignment.span.end});
        if (!tokens.empty() && tokens.front().is("="))
            found_.stores.push_back({id, target, above, Span{end, tokens.front().span.end}});
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Nest& nest_;
    Streams found_;
};

} // namespace

Gated<Streams> findStreams(const SkillContext& context) {
    return StreamFinder(context).find();
}

} // namespace kernelskill::skills
