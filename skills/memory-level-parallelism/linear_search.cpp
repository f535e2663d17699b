#include "skills/memory-level-parallelism/linear_search.h"

#include "analysis/queries/loop_effects.h"
#include "analysis/queries/source_layout.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr int maxValues = 16; ///< Registers for loaded values, of 32 or 64 bits.

class Reader {
public:
    Reader(const SkillContext& context, const CodeMap& code, std::uint32_t loop)
        : context_(context), source_(*context.file.source), code_(code), body_(code.body()),
          loop_(context.kernel.loops[loop]), index_(loop) {}

    [[nodiscard]] std::optional<BatchedLoop> read() {
        const ExprId bound = boundInHead();
        auto head = readCountingLoop(context_, code_, index_, bound);
        if (!head || !startsLine())
            return std::nullopt;
        head_ = *head;
        if (!isCountedSafely())
            return std::nullopt;
        BatchedLoop result;
        result.head = head_;
        result.search = bound == noId ? testInBody() : testInHead(bound);
        if (!result.search)
            return std::nullopt;
        result.loads = loads();
        if (result.loads.empty() || result.loads.size() > maxValues / 2)
            return std::nullopt;
        result.rounds = maxValues / static_cast<int>(std::bit_ceil(result.loads.size()));
        const auto known = rounds();
        return known && *known < std::int64_t{2} * result.rounds ? std::nullopt
                                                                 : std::optional(result);
    }

private:
    /// `i < n` of a head that says `i < n && …`, else noId.
    [[nodiscard]] ExprId boundInHead() const {
        const ExprId head = body_.stmt(loop_.statement).condition;
        const ExprId first = code_.firstConjunct(head);
        return first == head ? noId : first;
    }

    [[nodiscard]] bool isConjunction(ExprId expr) const {
        return body_.expr(expr).kind == ExprKind::Binary && body_.expr(expr).op == "&&";
    }

    [[nodiscard]] bool startsLine() const {
        return SourceLayout(source_, context_.kernel)
            .startsLine(body_.stmt(loop_.statement).span.begin);
    }

    /// The max number of rounds, if the limit is a number or every launch passes one for it.
    [[nodiscard]] std::optional<std::int64_t> rounds() const {
        const auto start =
            head_.counted.start == noId ? std::nullopt : code_.constantValue(head_.counted.start);
        const auto limit = largestLimit();
        const auto step = head_.counted.step == noId ? std::optional<std::int64_t>(1)
                                                     : code_.constantValue(head_.counted.step);
        return limit && step ? std::optional((*limit - start.value_or(0)) / *step) : std::nullopt;
    }

    [[nodiscard]] std::optional<std::int64_t> largestLimit() const {
        if (const auto known = code_.constantValue(head_.counted.limit))
            return known;
        ExprId limit = code_.withoutCasts(head_.counted.limit);
        if (body_.expr(limit).kind == ExprKind::Binary && body_.expr(limit).op == "-")
            limit = code_.withoutCasts(body_.expr(limit).children[0]);
        const auto parameter = std::ranges::find(context_.kernel.parameters,
                                                 code_.namedVariable(limit), &Parameter::variable);
        if (code_.namedVariable(limit) == noId || parameter == context_.kernel.parameters.end())
            return std::nullopt;
        const auto place = static_cast<std::size_t>(parameter - context_.kernel.parameters.begin());
        std::optional<std::int64_t> largest;
        for (const LaunchSite& launch : context_.kernel.launches) {
            if (launch.host == noId || place >= launch.arguments.size())
                return std::nullopt;
            const CodeMap host(context_.file.hostFunctions[launch.host].body);
            const auto passed = host.constantValue(launch.arguments[place]);
            if (!passed)
                return std::nullopt;
            largest = std::max(largest.value_or(*passed), *passed);
        }
        return largest;
    }

    [[nodiscard]] std::optional<SearchCondition> testInBody() {
        const Stmt& body = body_.stmt(loop_.body);
        std::vector<StmtId> statements =
            body.kind == StmtKind::Compound ? body.children : std::vector{loop_.body};
        if (head_.advance != noId)
            std::erase(statements, head_.advance);
        SearchCondition test;
        for (const StmtId id : statements) {
            const Stmt& stmt = body_.stmt(id);
            if (stmt.fromMacro)
                return std::nullopt;
            if (id == statements.back()) {
                if (!isTest(stmt))
                    return std::nullopt;
                const Expr& condition = body_.expr(stmt.condition);
                test.condition = condition.span;
                test.isBool =
                    condition.type.scalar == ScalarKind::Bool && condition.type.pointerDepth == 0;
                tested_.push_back(stmt.condition);
                return test;
            }
            if (!isLocal(stmt))
                return std::nullopt;
            test.locals.push_back(id);
            for (const VariableId local : stmt.declared)
                tested_.push_back(body_.variable(local).init);
        }
        return std::nullopt;
    }

    /// `i < n && condition` above a body that only counts.
    [[nodiscard]] std::optional<SearchCondition> testInHead(ExprId bound) {
        const Stmt& body = body_.stmt(loop_.body);
        const bool isEmpty =
            body.kind == StmtKind::Null || loop_.body == head_.advance ||
            (body.kind == StmtKind::Compound &&
             std::ranges::all_of(body.children, [&](StmtId id) { return id == head_.advance; }));
        const ExprId whole = body_.stmt(loop_.statement).condition;
        const ExprId parent = code_.parent(bound);
        if (!isEmpty || body_.expr(whole).fromMacro || parent == noId || !isConjunction(parent))
            return std::nullopt;
        for (ExprId at = parent;; at = code_.parent(at)) {
            if (at == noId || !isConjunction(at) || !isRepeatable(body_.expr(at).children[1]))
                return std::nullopt;
            if (at == whole)
                break;
        }
        // Brackets around the bound or the condition belong to neither expression.
        const Span between{body_.expr(bound).span.end,
                           body_.expr(body_.expr(parent).children[1]).span.begin};
        const std::size_t sign = source_.slice(between).find("&&");
        if (sign == std::string_view::npos)
            return std::nullopt;
        std::uint32_t begin = between.begin + static_cast<std::uint32_t>(sign) + 2;
        while (begin < between.end &&
               std::isspace(static_cast<unsigned char>(source_.slice({begin, begin + 1}).front())))
            ++begin;
        tested_.push_back(body_.expr(parent).children[1]);
        return SearchCondition{.locals = {},
                               .condition = {begin, body_.expr(whole).span.end},
                               .isBool = true,
                               .goesOn = true};
    }

    /// The elements of global memory that each test loads anew.
    [[nodiscard]] std::vector<BatchedLoad> loads() const {
        std::vector<BatchedLoad> found;
        for (const MemoryAccess& access : context_.kernel.accesses) {
            if (access.kind != AccessKind::Read || access.space != MemorySpace::Global ||
                access.expression == noId || !isTestedAlways(access.expression) ||
                body_.expr(access.expression).kind != ExprKind::Subscript ||
                !isOfAllThreads(body_.expr(access.expression).children[1]))
                continue;
            if (std::ranges::none_of(found, [&](const BatchedLoad& known) {
                    return code_.sameExpression(known.element, access.expression);
                }))
                found.push_back({access.expression,
                                 code_.namedVariable(body_.expr(access.expression).children[0]),
                                 {},
                                 {}});
        }
        return found;
    }

    [[nodiscard]] bool isTestedAlways(ExprId element) const {
        for (ExprId at = element; at != noId; at = code_.parent(at)) {
            if (std::ranges::find(tested_, at) != tested_.end())
                return true;
            if (code_.mayBeSkipped(at))
                return false;
        }
        return false;
    }

    /// Whether the place of an element follows from the loop's index and from values that all
    /// threads share: then they walk through one table, and the limit is its end.
    [[nodiscard]] bool isOfAllThreads(ExprId place) const {
        bool namesIndex = false;
        for (const ExprId id : code_.expressionsBelow(place)) {
            const Expr& at = body_.expr(id);
            if (at.kind == ExprKind::BuiltinIndex)
                return false;
            if (at.kind != ExprKind::Variable || at.variable == noId)
                continue;
            const bool isIndex = at.variable == head_.index;
            namesIndex |= isIndex;
            if (!isIndex && body_.variable(at.variable).storage == Storage::Local)
                return false;
        }
        return namesIndex;
    }

    /// Whether one comparison in 64 bits tells that a group of rounds ends below the limit: the
    /// index counts up, and begins at a number of at least zero, or has 32 bits below a limit of
    /// int.
    [[nodiscard]] bool isCountedSafely() const {
        const CountedLoop& counted = head_.counted;
        if (counted.step != noId) {
            const auto step = code_.constantValue(counted.step);
            if (body_.expr(counted.step).kind != ExprKind::Integer || !step || *step <= 0)
                return false;
        }
        const auto start =
            counted.start == noId ? std::nullopt : code_.constantValue(counted.start);
        if (start && *start >= 0)
            return true;
        const ScalarKind limit = body_.expr(counted.limit).type.scalar;
        const ScalarKind index = body_.variable(head_.index).type.scalar;
        return limit == ScalarKind::Int32 &&
               (index == ScalarKind::Int32 || index == ScalarKind::UInt32);
    }

    [[nodiscard]] bool isTest(const Stmt& stmt) const {
        if (stmt.kind != StmtKind::If || stmt.children.size() != 1 || stmt.condition == noId ||
            !leaves(stmt.children.front()))
            return false;
        const Expr& condition = body_.expr(stmt.condition);
        // Neither `constexpr` nor a declaration is in front of it.
        const std::string_view front = source_.slice({stmt.span.begin, condition.span.begin});
        const auto isSpace = [](char c) { return c == ' ' || c == '\t'; };
        std::string plain;
        std::ranges::copy_if(front, std::back_inserter(plain), [&](char c) { return !isSpace(c); });
        return plain == "if(" && !condition.fromMacro && isRepeatable(stmt.condition);
    }

    [[nodiscard]] bool leaves(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.kind == StmtKind::Compound)
            return !stmt.children.empty() && leaves(stmt.children.back());
        return stmt.kind == StmtKind::Break || stmt.kind == StmtKind::Return;
    }

    [[nodiscard]] bool isLocal(const Stmt& stmt) const {
        return stmt.kind == StmtKind::Declaration &&
               std::ranges::all_of(stmt.declared, [&](VariableId id) {
                   const Variable& variable = body_.variable(id);
                   return variable.storage == Storage::Local && !variable.fromMacro &&
                          variable.init != noId && isRepeatable(variable.init);
               });
    }

    /// Whether the expression may be evaluated in rounds that the loop does not reach: it changes
    /// nothing, and faults only where a round below the limit would.
    [[nodiscard]] bool isRepeatable(ExprId expr) const {
        if (!hasNoEffect(code_, expr))
            return false;
        return std::ranges::all_of(code_.expressionsBelow(expr), [&](ExprId id) {
            const Expr& at = body_.expr(id);
            if (at.kind == ExprKind::Subscript)
                return body_.expr(at.children[0]).kind == ExprKind::Variable &&
                       isFixedOutside(code_, loop_, at.children[0], head_.advance) &&
                       isFixedOutside(code_, loop_, at.children[1], head_.advance);
            if (at.kind == ExprKind::Unary && at.op == "*")
                return isFixedOutside(code_, loop_, at.children[0], head_.advance);
            return !(at.kind == ExprKind::Member && at.isArrow) &&
                   !(at.kind == ExprKind::Binary && at.op == ",");
        });
    }

    const SkillContext& context_;
    const SourceText& source_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Loop& loop_;
    std::uint32_t index_;
    AdvancingLoop head_;
    std::vector<ExprId> tested_; ///< The expressions that each test evaluates.
};

} // namespace

std::optional<BatchedLoop> readSearch(const SkillContext& context, const CodeMap& code,
                                      std::uint32_t loop) {
    return Reader(context, code, loop).read();
}

} // namespace kernelskill::skills
