#include "skills/shared-memory-transpose/copied_element.h"

#include "analysis/queries/grid_stride_loops.h"
#include "analysis/queries/launch_values.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/editing/launch_text.h"
#include "skills/gates/counted_loop.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class ElementFinder {
public:
    ElementFinder(const SkillContext& context, PositionDigits& digits)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          digits_(digits) {}

    Gated<CopyElement> find() {
        KERNELSKILL_CHECK(flatten(body_.stmt(body_.root).children, false));
        KERNELSKILL_CHECK(findStores());
        return std::move(found_);
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    [[nodiscard]] bool isBare(StmtId id, StmtKind kind) const {
        const std::vector<StmtId> statements = code_.statementsOf(id);
        return statements.size() == 1 && body_.stmt(statements[0]).kind == kind &&
               body_.stmt(statements[0]).expr == noId;
    }

    Gated<void> flatten(const std::vector<StmtId>& statements, bool isInLoop) {
        for (std::size_t at = 0; at < statements.size(); ++at) {
            const StmtId id = statements[at];
            const Stmt& stmt = body_.stmt(id);
            const bool isLast = at + 1 == statements.size();
            switch (stmt.kind) {
            case StmtKind::Null:
                break;
            case StmtKind::Declaration:
            case StmtKind::Expression:
                if (stmt.fromMacro)
                    return refuse("from-macro",
                                  fmt::format("line {} comes out of a macro", line(stmt.span)));
                digits_.readStatement(id);
                found_.statements.push_back(id);
                break;
            case StmtKind::Return:
                if (!isLast || stmt.expr != noId || isInLoop)
                    return refuseShape(stmt);
                break;
            case StmtKind::If:
                KERNELSKILL_CHECK(takeIf(id, isLast, isInLoop));
                break;
            case StmtKind::For:
                if (!isLast || isInLoop)
                    return refuse("loop", fmt::format("the elements of a thread are copied by the "
                                                      "loop on line {}",
                                                      line(stmt.span)));
                return takeLoop(id);
            case StmtKind::Compound:
                if (!isLast)
                    return refuseShape(stmt);
                return flatten(stmt.children, isInLoop);
            default:
                return refuseShape(stmt);
            }
        }
        return {};
    }

    std::unexpected<Refusal> refuseShape(const Stmt& stmt) const {
        return refuse(
            "other-shape",
            fmt::format("line {} is not part of a copy of one element a thread", line(stmt.span)));
    }

    Gated<void> takeIf(StmtId id, bool isLast, bool isInLoop) {
        const Stmt& stmt = body_.stmt(id);
        const bool isPlain = stmt.children.size() == 1 && stmt.init == noId &&
                             stmt.declared.empty() && !stmt.fromMacro &&
                             isWrittenAs(*context_.file.source, stmt.span, {"if"});
        const bool leaves =
            isPlain && isBare(stmt.children[0], isInLoop ? StmtKind::Continue : StmtKind::Return);
        if (leaves || (isPlain && isLast && stores(id))) {
            digits_.read(stmt.condition);
            addClauses(stmt.condition, leaves);
            firstGuarded_ = found_.statements.size();
            return leaves ? Gated<void>{} : flatten(code_.statementsOf(stmt.children[0]), isInLoop);
        }
        const auto inside = code_.statementsIn(id);
        if (stmt.fromMacro || std::ranges::any_of(inside, [&](StmtId each) {
                const StmtKind kind = body_.stmt(each).kind;
                return kind != StmtKind::If && kind != StmtKind::Compound &&
                       kind != StmtKind::Expression && kind != StmtKind::Declaration;
            }))
            return refuseShape(stmt);
        digits_.readStatement(id);
        found_.statements.push_back(id);
        return {};
    }

    /// Whether something below the statement leaves the thread.
    [[nodiscard]] bool stores(StmtId id) const {
        return std::ranges::any_of(kernel_.accesses, [&](const MemoryAccess& access) {
            return access.kind != AccessKind::Read && leavesThread(access) &&
                   code_.holds(id, access.expression);
        });
    }

    Gated<void> takeLoop(StmtId id) {
        const auto loops = findGridStrideLoops(kernel_, code_);
        const auto found = std::ranges::find_if(loops, [&](const GridStrideLoop& loop) {
            return kernel_.loops[loop.loop].statement == id;
        });
        const Stmt& stmt = body_.stmt(id);
        if (found == loops.end() && takeFurtherAxis(id)) {
            digits_.start(found_.loop->index, found_.loop->axis);
            digits_.read(stmt.condition);
            addClauses(stmt.condition, false);
            firstGuarded_ = found_.statements.size();
            return flatten(code_.statementsOf(stmt.children[0]), true);
        }
        if (found == loops.end() || !found_.guard.empty() || stmt.fromMacro ||
            body_.expr(stmt.condition).fromMacro)
            return refuse("loop",
                          fmt::format("the elements of a thread are copied by the loop on line {}",
                                      line(stmt.span)));
        found_.strided = found->index;
        digits_.start(found->index, 0);
        digits_.read(stmt.condition);
        addClauses(stmt.condition, false);
        firstGuarded_ = found_.statements.size();
        return flatten(code_.statementsOf(stmt.children[0]), true);
    }

    /// Takes a loop of independent rounds for an axis of the grid that the kernel does not use.
    bool takeFurtherAxis(StmtId id) {
        const auto at = std::ranges::find(kernel_.loops, id, &Loop::statement);
        if (at == kernel_.loops.end())
            return false;
        const auto form = readAdvancingLoop(context_, code_,
                                            static_cast<std::uint32_t>(at - kernel_.loops.begin()),
                                            {.place = LoopPlace::Anywhere});
        if (!form || !form->declaresIndex || form->advance != noId || form->counted.step != noId ||
            form->counted.start == noId || code_.constantValue(form->counted.start) != 0 ||
            !keepsToItself(body_.stmt(id).children[0]))
            return false;
        for (const std::uint8_t axis : {std::uint8_t{1}, std::uint8_t{2}}) {
            const bool isNamed = std::ranges::any_of(body_.exprs, [&](const Expr& expr) {
                return expr.kind == ExprKind::BuiltinIndex && expr.axis == axis;
            });
            const bool isFree =
                !isNamed && !kernel_.launches.empty() &&
                std::ranges::all_of(kernel_.launches, [&](const LaunchSite& launch) {
                    if (launch.host >= context_.file.hostFunctions.size())
                        return false;
                    const LaunchValues values(context_.shared(), launch);
                    return values.grid()[axis] == 1 && values.block()[axis] == 1 &&
                           isInMainFile(context_.file, launch) &&
                           textAtLaunch(context_, launch, form->counted.limit);
                });
            if (!isFree)
                continue;
            found_.loop = CopyLoop{form->index, form->counted.limit, axis};
            return true;
        }
        return false;
    }
    /// Whether the statements change no variable that is declared outside of them.
    [[nodiscard]] bool keepsToItself(StmtId body) const {
        return std::ranges::none_of(code_.expressionsIn(body), [&](ExprId id) {
            const VariableId variable = body_.expr(id).variable;
            if (body_.expr(id).kind != ExprKind::Variable || variable == noId || !code_.isWrite(id))
                return false;
            const StmtId declaration = code_.declarationOf(variable);
            return declaration == noId || !code_.encloses(body, declaration);
        });
    }

    void addClauses(ExprId condition, bool isNegated) {
        const Expr& expr = body_.expr(condition);
        if (expr.kind == ExprKind::Unary && expr.op == "!") {
            addClauses(expr.children[0], !isNegated);
            return;
        }
        if (expr.kind == ExprKind::Binary && !expr.fromMacro &&
            expr.op == (isNegated ? "||" : "&&")) {
            for (const ExprId child : expr.children)
                addClauses(child, isNegated);
            return;
        }
        found_.guard.push_back({condition, isNegated, false});
    }

    [[nodiscard]] static bool leavesThread(const MemoryAccess& access) {
        return access.space == MemorySpace::Global || access.space == MemorySpace::Generic;
    }

    Gated<void> findStores() {
        for (const StmtId id : found_.statements) {
            const Stmt& stmt = body_.stmt(id);
            if (stmt.kind != StmtKind::Expression)
                continue;
            const Expr& expr = body_.expr(stmt.expr);
            if (expr.kind != ExprKind::Binary || !isAssignment(expr.op))
                continue;
            const ExprId target = code_.withoutCasts(expr.children[0]);
            const bool isStore = std::ranges::any_of(kernel_.accesses, [&](const MemoryAccess& a) {
                return a.kind != AccessKind::Read && leavesThread(a) &&
                       code_.withoutCasts(a.expression) == target;
            });
            if (isStore)
                found_.stores.push_back({id, expr.children[0], expr.children[1], expr.op});
        }
        const auto writes = std::ranges::count_if(kernel_.accesses, [](const MemoryAccess& a) {
            return a.kind != AccessKind::Read && leavesThread(a);
        });
        if (found_.stores.empty() || static_cast<std::size_t>(writes) != found_.stores.size())
            return refuse("other-shape",
                          fmt::format("{} does not copy one element a thread", kernel_.name));
        const StmtId last = found_.statements.back();
        if (std::ranges::find(found_.stores, last, &CopyStore::statement) == found_.stores.end())
            return refuse("other-shape",
                          fmt::format("line {} follows the store", line(body_.stmt(last).span)));
        const auto ahead = found_.statements.begin() + static_cast<std::ptrdiff_t>(firstGuarded_);
        if (std::ranges::any_of(found_.stores, [&](const CopyStore& store) {
                return std::find(found_.statements.begin(), ahead, store.statement) != ahead;
            }))
            return refuse("other-shape",
                          fmt::format("{} stores in front of its bounds check", kernel_.name));
        return {};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    PositionDigits& digits_;
    CopyElement found_;
    std::size_t firstGuarded_ = 0; ///< Statements in front of the guard's last part.
};

} // namespace

Gated<CopyElement> copiedElement(const SkillContext& context, PositionDigits& digits) {
    return ElementFinder(context, digits).find();
}

} // namespace kernelskill::skills
