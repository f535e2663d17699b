#include "skills/stencil-tiling/separate_rounds.h"

#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/schedule/draft.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class RoundChecker {
public:
    RoundChecker(const SkillContext& context, const MarchedWork& work,
                 const std::set<VariableId>& dependent)
        : context_(context), code_(context.code()), body_(code_.body()),
          layout_(*context.file.source, context.kernel), work_(work), dependent_(dependent) {}

    Gated<void> check() const {
        KERNELSKILL_CHECK(requireOnlyUses());
        KERNELSKILL_CHECK(requireNothingCarried());
        return requireEditableWork();
    }

private:
    [[nodiscard]] std::uint32_t lineOf(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }
    [[nodiscard]] std::uint32_t lineOfStatement(StmtId stmt) const {
        return lineNumber(context_, body_.stmt(stmt).span.begin);
    }

    [[nodiscard]] bool isInRounds(ExprId use) const {
        const auto holds = [&](StmtId stmt) { return code_.holds(stmt, use); };
        return std::ranges::any_of(work_.work, holds) || std::ranges::any_of(work_.moved, holds);
    }

    [[nodiscard]] bool isInBounds(ExprId use) const {
        return std::ranges::any_of(work_.guards, [&](const MarchGuard& guard) {
            const Stmt& stmt = body_.stmt(guard.statement);
            return body_.expr(stmt.condition).span.contains(body_.expr(use).span) &&
                   std::ranges::none_of(guard.kept, [&](ExprId kept) {
                       return body_.expr(kept).span.contains(body_.expr(use).span);
                   });
        });
    }

    /// Nothing asks for the position, or what follows from it, outside of the rounds.
    Gated<void> requireOnlyUses() const {
        std::set<VariableId> all = dependent_;
        all.insert(work_.index);
        for (const VariableId variable : all)
            for (const ExprId use : code_.uses(variable))
                if (!isInRounds(use) && !isInBounds(use) && !code_.isWrite(use))
                    return refuse("position-used-elsewhere",
                                  fmt::format("{} on line {} is used outside of the work",
                                              body_.variable(variable).name, lineOf(use)));
        return {};
    }

    /// Every round begins with the values that the first one began with.
    Gated<void> requireNothingCarried() const {
        for (VariableId id = 0; id < body_.variables.size(); ++id) {
            const Variable& variable = body_.variable(id);
            if (variable.storage != Storage::Local && variable.storage != Storage::Parameter)
                continue;
            const StmtId declared = code_.declarationOf(id);
            const auto declares = [&](StmtId stmt) {
                return declared != noId && code_.encloses(stmt, declared);
            };
            if (std::ranges::any_of(work_.work, declares) ||
                std::ranges::any_of(work_.moved, declares))
                continue;
            std::optional<ExprId> first;
            bool isWritten = false;
            for (const ExprId use : code_.uses(id))
                if (isInRounds(use)) {
                    first = first ? first : use;
                    isWritten = isWritten || code_.isWrite(use);
                }
            if (isWritten && !isSetAtFirst(*first))
                return refuse("carried-value",
                              fmt::format("{} keeps a value from one point to the next (line {})",
                                          variable.name, lineOf(*first)));
        }
        return {};
    }

    /// Whether every round begins with `x = value;`, whose value does not follow from x.
    [[nodiscard]] bool isSetAtFirst(ExprId use) const {
        const StmtId stmt = code_.statement(use);
        const bool isPlain = std::ranges::find(work_.work, stmt) != work_.work.end() ||
                             std::ranges::find(work_.moved, stmt) != work_.moved.end();
        ExprId assignment = stmt == noId ? noId : body_.stmt(stmt).expr;
        if (!isPlain || assignment == noId || body_.stmt(stmt).kind != StmtKind::Expression)
            return false;
        // `a = b = value` sets both.
        while (body_.expr(assignment).kind == ExprKind::Binary &&
               body_.expr(assignment).op == "=") {
            const auto& sides = body_.expr(assignment).children;
            if (sides[0] == use)
                return std::ranges::none_of(code_.expressionsBelow(sides[1]), [&](ExprId id) {
                    return body_.expr(id).kind == ExprKind::Variable &&
                           body_.expr(id).variable == body_.expr(use).variable;
                });
            assignment = sides[1];
        }
        return false;
    }

    Gated<void> requireEditableWork() const {
        for (const std::vector<StmtId>* part : {&work_.moved, &work_.work})
            for (const StmtId stmt : *part) {
                if (!hasOwnLines(body_, layout_, stmt, stmt) &&
                    (part == &work_.moved || stmt == work_.work.front() ||
                     stmt == work_.work.back()))
                    return refuse("several-statements-a-line",
                                  fmt::format("line {} holds more than one statement",
                                              lineOfStatement(stmt)));
                for (const StmtId inner : code_.statementsIn(stmt)) {
                    const StmtKind kind = body_.stmt(inner).kind;
                    if (kind == StmtKind::Return || kind == StmtKind::Goto || kind == StmtKind::Asm)
                        return refuse("early-exit",
                                      fmt::format("line {} leaves the work of one point early",
                                                  lineOfStatement(inner)));
                    if (body_.stmt(inner).fromMacro && kind != StmtKind::Expression)
                        return refuse("from-macro", fmt::format("line {} comes out of a macro",
                                                                lineOfStatement(inner)));
                }
            }
        return {};
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    SourceLayout layout_;
    const MarchedWork& work_;
    const std::set<VariableId>& dependent_;
};

} // namespace

Gated<void> requireSeparateRounds(const SkillContext& context, const MarchedWork& work,
                                  const std::set<VariableId>& dependent) {
    return RoundChecker(context, work, dependent).check();
}

} // namespace kernelskill::skills
