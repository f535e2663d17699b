// Fixes barriers in a branch that not all threads of a block take.
#include "analysis/queries/source_layout.h"
#include "engine/repair/hazard_fixes/fix_draft.h"
#include "engine/repair/hazard_fixes/statement_insertion.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// A branch of an `if`, split by the barrier in it.
struct CutBranch {
    std::vector<StmtId> before;
    std::vector<StmtId> after;
    StmtId barrier = noId; ///< noId if it has no barrier; then all of it is before.
    Span beforeText;       ///< From brace to barrier, with comments.
    Span afterText;
};

class Motion {
public:
    Motion(const HazardCode& code, StmtId branching) : code_(code), branching_(branching) {}

    std::optional<HazardFixDraft> draft() {
        const Stmt& stmt = code_.stmt(branching_);
        if (stmt.fromMacro || stmt.init != noId || stmt.children.empty() ||
            stmt.children.size() > 2 || !code_.layout().startsLine(stmt.span.begin))
            return std::nullopt;
        const auto chosen = cut(stmt.children[0]);
        const auto other =
            stmt.children.size() == 2 ? cut(stmt.children[1]) : std::optional(CutBranch{});
        if (!chosen || !other || (chosen->barrier == noId && other->barrier == noId))
            return std::nullopt;
        const bool isAsked = !chosen->before.empty() || !other->before.empty();
        const bool isAskedAgain = !chosen->after.empty() || !other->after.empty();
        // The first half must not change the condition of the second half. If the condition is
        // evaluated once, but after the barrier, it must not read what other threads wrote before.
        if (isAskedAgain && !code_.isRepeatable(stmt.condition, branching_))
            return std::nullopt;
        std::string text;
        if (isAsked)
            text = conditional({chosen->before.empty(), chosen->beforeText},
                               {other->before.empty(), other->beforeText}) +
                   newline();
        text += "__syncthreads();";
        if (isAskedAgain)
            text += newline() + conditional({chosen->after.empty(), chosen->afterText},
                                            {other->after.empty(), other->afterText});
        return HazardFixDraft{fmt::format("move '__syncthreads();' out of the branch on line {}",
                                          code_.lineOf(stmt.span.begin) + 1),
                              {{stmt.span, std::move(text)}},
                              FixEffect::Orders};
    }

private:
    [[nodiscard]] std::string newline() const {
        return code_.layout().newline() +
               code_.layout().indentation(code_.stmt(branching_).span.begin);
    }

    [[nodiscard]] bool isBarrier(StmtId statement) const {
        return std::ranges::any_of(code_.kernel().barriers, [&](const Barrier& barrier) {
            return barrier.kind == BarrierKind::SyncThreads &&
                   code_.stmt(statement).kind == StmtKind::Expression &&
                   code_.map().withoutCasts(code_.stmt(statement).expr) == barrier.call;
        });
    }

    /// nullopt if the branch cannot be split.
    [[nodiscard]] std::optional<CutBranch> cut(StmtId branch) const {
        CutBranch result;
        for (const StmtId statement : code_.map().statementsOf(branch)) {
            if (code_.stmt(statement).fromMacro || leaves(statement))
                return std::nullopt;
            if (isBarrier(statement)) {
                if (result.barrier != noId)
                    return std::nullopt;
                result.barrier = statement;
            } else {
                (result.barrier == noId ? result.before : result.after).push_back(statement);
            }
        }
        const Span inside = insideOf(branch);
        result.beforeText = result.afterText = inside;
        if (result.barrier != noId) {
            result.beforeText.end = code_.stmt(result.barrier).span.begin;
            result.afterText.begin = code_.stmt(result.barrier).span.end;
        }
        const bool losesComment =
            (result.before.empty() && !commentsIn(result.beforeText).empty()) ||
            (result.barrier != noId && result.after.empty() &&
             !commentsIn(result.afterText).empty());
        if (losesComment || declaresFor(result))
            return std::nullopt;
        return result;
    }

    [[nodiscard]] Span insideOf(StmtId branch) const {
        const Stmt& stmt = code_.stmt(branch);
        return stmt.kind == StmtKind::Compound ? Span{stmt.span.begin + 1, stmt.span.end - 1}
                                               : stmt.span;
    }
    [[nodiscard]] std::vector<std::string> commentsIn(Span span) const {
        return analysis::commentsIn(*code_.file().source, span);
    }

    /// Whether it contains another barrier or leaves the branch.
    [[nodiscard]] bool leaves(StmtId statement) const {
        const bool hasInnerBarrier =
            std::ranges::any_of(code_.kernel().barriers, [&](const Barrier& barrier) {
                return barrier.kind != BarrierKind::Fence &&
                       code_.map().holds(statement, barrier.call);
            });
        if (hasInnerBarrier && !isBarrier(statement))
            return true;
        return std::ranges::any_of(code_.map().statementsIn(statement), [&](StmtId inner) {
            const StmtKind kind = code_.stmt(inner).kind;
            return kind == StmtKind::Return || kind == StmtKind::Break ||
                   kind == StmtKind::Continue || kind == StmtKind::Goto;
        });
    }

    /// Whether the second half uses a declaration of the first half.
    [[nodiscard]] bool declaresFor(const CutBranch& branch) const {
        for (const StmtId first : branch.before) {
            for (const VariableId variable : code_.stmt(first).declared) {
                for (const ExprId use : code_.map().uses(variable)) {
                    if (std::ranges::any_of(branch.after, [&](StmtId second) {
                            return code_.map().holds(second, use);
                        }))
                        return true;
                }
            }
        }
        return false;
    }

    /// A part of a branch, as it is in the file, in its own braces.
    [[nodiscard]] std::string block(Span part) const {
        constexpr std::string_view blanks = " \t";
        constexpr std::string_view spaces = " \t\r\n";
        std::string text = code_.text(part);
        text.erase(text.find_last_not_of(spaces) + 1);
        const auto first = text.find_first_not_of(spaces);
        const auto lineEnd = text.rfind('\n', first);
        if (lineEnd != std::string::npos)
            text.erase(0, lineEnd + 1);
        else
            text = newline().substr(code_.layout().newline().size()) + code_.layout().unit() +
                   text.substr(text.find_first_not_of(blanks));
        return " {" + code_.layout().newline() + text + newline() + "}";
    }

    /// `text` is unused if the branch has no statements.
    struct Part {
        bool isEmpty = true;
        Span text;
    };
    [[nodiscard]] std::string conditional(Part chosen, Part other) const {
        const std::string condition = code_.text(code_.stmt(branching_).condition);
        if (chosen.isEmpty)
            return "if (!(" + condition + "))" + block(other.text);
        return "if (" + condition + ")" + block(chosen.text) +
               (other.isEmpty ? "" : " else" + block(other.text));
    }

    const HazardCode& code_;
    StmtId branching_;
};

} // namespace

std::vector<HazardFixDraft> barrierMotions(const HazardInCode& given) {
    const HazardCode& code = given.code;
    const Hazard& hazard = given.hazard;
    if (hazard.kind != HazardKind::BarrierDivergence)
        return {};
    std::vector<HazardFixDraft> drafts;
    std::vector<StmtId> seen;
    for (const Barrier& barrier : code.kernel().barriers) {
        const std::uint32_t line = code.lineOf(code.expr(barrier.call).span.begin);
        const StmtId statement = code.map().statement(barrier.call);
        if (barrier.kind != BarrierKind::SyncThreads || statement == noId ||
            (line != hazard.line && (hazard.otherFile.empty() || line != hazard.otherLine)))
            continue;
        // Continue with the enclosing branch if all threads reach it.
        StmtId branching = code.stmt(statement).parent;
        if (branching != noId && code.stmt(branching).kind == StmtKind::Compound)
            branching = code.stmt(branching).parent;
        if (branching == noId || code.stmt(branching).kind != StmtKind::If ||
            code.isUniform(code.stmt(branching).condition) || !code.isReachedByBlock(branching) ||
            std::ranges::find(seen, branching) != seen.end())
            continue;
        seen.push_back(branching);
        if (auto draft = Motion(code, branching).draft())
            drafts.push_back(std::move(*draft));
    }
    return drafts;
}

} // namespace kernelskill::engine
