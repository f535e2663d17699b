#include "skills/memory-level-parallelism/search_test.h"

#include "analysis/queries/loop_effects.h"

#include <algorithm>
#include <bit>
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
    Reader(const SkillContext& context, const CodeMap& code, const BatchedLoop& batched)
        : source_(*context.file.source), code_(code), body_(code.body()), head_(batched.head),
          loop_(context.kernel.loops[batched.head.counted.loop]) {}

    [[nodiscard]] std::optional<SearchTest> read() const {
        const Stmt& body = body_.stmt(loop_.body);
        std::vector<StmtId> statements =
            body.kind == StmtKind::Compound ? body.children : std::vector{loop_.body};
        if (head_.advance != noId)
            std::erase(statements, head_.advance);
        if (statements.empty() || !isCountedSafely())
            return std::nullopt;
        SearchTest test;
        for (const StmtId id : statements) {
            const Stmt& stmt = body_.stmt(id);
            if (stmt.fromMacro)
                return std::nullopt;
            if (id == statements.back()) {
                if (!isTest(stmt))
                    return std::nullopt;
                test.condition = stmt.condition;
            } else {
                if (!isLocal(stmt))
                    return std::nullopt;
                test.locals.push_back(id);
            }
        }
        return test;
    }

private:
    /// Rounds ahead of the limit are told by one comparison in 64 bits: the index goes up, begins
    /// at zero or above or is compared with its sign, and does not begin at the end of 64 bits.
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

    /// Evaluating it in a round that the loop does not come to changes nothing and faults nowhere
    /// that a round below the limit would not.
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

    const SourceText& source_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const AdvancingLoop& head_;
    const Loop& loop_;
};

} // namespace

std::optional<SearchTest> readSearchTest(const SkillContext& context, const CodeMap& code,
                                         const BatchedLoop& batched) {
    if (batched.loads.empty() || batched.loads.size() > maxValues / 2)
        return std::nullopt;
    return Reader(context, code, batched).read();
}

int roundsOfSearch(const BatchedLoop& batched) {
    return maxValues / static_cast<int>(std::bit_ceil(batched.loads.size()));
}

} // namespace kernelskill::skills
