#include "skills/live-range-reduction/early_loads.h"

#include "analysis/queries/source_layout.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"
#include "skills/gates/aliasing.h"
#include "skills/gates/counted_loop.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <span>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::uint32_t registerBytes = 4;

class Finder {
public:
    Finder(const SkillContext& context, const CodeMap& code)
        : context_(context), kernel_(context.kernel), code_(code), body_(code.body()),
          layout_(*context.file.source, context.kernel) {}

    Gated<std::vector<EarlyLoad>> find() const {
        std::vector<EarlyLoad> loads;
        std::optional<Refusal> first;
        for (StmtId id = 0; id < body_.stmts.size(); ++id) {
            if (body_.stmt(id).kind != StmtKind::Compound)
                continue;
            const std::vector<StmtId>& block = body_.stmt(id).children;
            for (std::size_t at = 0; at < block.size(); ++at) {
                const auto candidate = candidateAt(block, at);
                if (!candidate)
                    continue;
                if (auto movable = requireMovable(*candidate, between(block, *candidate)); movable)
                    loads.push_back(*candidate);
                else if (!first)
                    first = movable.error();
            }
        }
        if (loads.empty() && first)
            return std::unexpected(*first);
        if (loads.empty())
            return refuse("no-early-load",
                          fmt::format("no value that {} loads lies in registers through a loop "
                                      "with barriers without being used there",
                                      kernel_.name));
        std::ranges::sort(loads, {}, [&](const EarlyLoad& load) {
            return body_.stmt(load.declaration).span.begin;
        });
        return loads;
    }

private:
    [[nodiscard]] std::uint32_t line(StmtId stmt) const {
        return lineNumber(context_, body_.stmt(stmt).span.begin);
    }

    [[nodiscard]] bool isReadFromGlobal(ExprId init) const {
        const std::vector<ExprId> below = code_.expressionsBelow(init);
        return std::ranges::any_of(kernel_.accesses, [&](const MemoryAccess& access) {
            return access.space == MemorySpace::Global && access.kind == AccessKind::Read &&
                   std::ranges::find(below, access.expression) != below.end();
        });
    }

    /// The statement at `at` of a block if it declares a value that is loaded there, never changes
    /// and is first used behind a loop with barriers.
    [[nodiscard]] std::optional<EarlyLoad> candidateAt(const std::vector<StmtId>& block,
                                                       std::size_t at) const {
        const Stmt& stmt = body_.stmt(block[at]);
        if (stmt.kind != StmtKind::Declaration || stmt.declared.size() != 1)
            return std::nullopt;
        EarlyLoad load;
        load.variable = stmt.declared.front();
        load.declaration = block[at];
        const Variable& variable = body_.variable(load.variable);
        if (variable.storage != Storage::Local || variable.init == noId ||
            !variable.type.arrayExtents.empty() || variable.type.isReference ||
            variable.type.pointerDepth > 0 || variable.type.size == 0 ||
            code_.isEverWritten(load.variable) || !isReadFromGlobal(variable.init))
            return std::nullopt;
        load.registers = (variable.type.size + registerBytes - 1) / registerBytes;
        const auto& uses = code_.uses(load.variable);
        const auto firstUse = std::find_if(
            block.begin() + static_cast<std::ptrdiff_t>(at) + 1, block.end(), [&](StmtId later) {
                return std::ranges::any_of(uses,
                                           [&](ExprId use) { return code_.holds(later, use); });
            });
        if (firstUse == block.end())
            return std::nullopt;
        load.firstUse = *firstUse;
        for (const StmtId passed : between(block, load))
            if (const StmtId loop = loopWithBarrier(passed); loop != noId) {
                load.loop = loop;
                return load;
            }
        return std::nullopt;
    }

    /// The statements that the load would be moved past.
    [[nodiscard]] static std::span<const StmtId> between(const std::vector<StmtId>& block,
                                                         const EarlyLoad& load) {
        const auto begin = std::ranges::find(block, load.declaration) + 1;
        return {begin, std::ranges::find(block, load.firstUse)};
    }

    [[nodiscard]] StmtId loopWithBarrier(StmtId stmt) const {
        const auto loop = std::ranges::find_if(kernel_.loops, [&](const Loop& candidate) {
            return candidate.hasBarrier && code_.encloses(stmt, candidate.statement);
        });
        return loop == kernel_.loops.end() ? noId : loop->statement;
    }

    [[nodiscard]] Gated<void> requireMovable(const EarlyLoad& load,
                                             std::span<const StmtId> passed) const {
        KERNELSKILL_CHECK(requireSameValue(load, passed));
        KERNELSKILL_CHECK(requireUnwrittenMemory(load));
        return requireOwnLines(load, passed);
    }

    /// The expression is without effects, and the variables in it are the same behind `passed`.
    [[nodiscard]] Gated<void> requireSameValue(const EarlyLoad& load,
                                               std::span<const StmtId> passed) const {
        const Variable& variable = body_.variable(load.variable);
        const auto no = [&](std::string_view why) {
            return refuse("value-changes", fmt::format("{}, loaded on line {}, {}", variable.name,
                                                       line(load.declaration), why));
        };
        for (const ExprId id : code_.expressionsBelow(variable.init)) {
            const Expr& expr = body_.expr(id);
            if (expr.type.isVolatile || !isPure(expr))
                return no("comes from more than loads and arithmetic");
            if (expr.kind != ExprKind::Variable || expr.variable == noId)
                continue;
            for (const StmtId stmt : passed) {
                const bool changes =
                    std::ranges::any_of(code_.uses(expr.variable), [&](ExprId use) {
                        return (code_.isWrite(use) || isPassedOn(use)) && code_.holds(stmt, use);
                    });
                if (changes)
                    return no(fmt::format("depends on {}, which line {} changes",
                                          body_.variable(expr.variable).name, line(stmt)));
            }
            if (hidesName(expr.variable, passed))
                return no(fmt::format("depends on {}, which is another variable at its first use",
                                      body_.variable(expr.variable).name));
        }
        const auto all = code_.statementsIn(body_.root);
        if (std::ranges::any_of(all, [&](StmtId id) {
                return body_.stmt(id).kind == StmtKind::Goto ||
                       body_.stmt(id).kind == StmtKind::Asm;
            }))
            return refuse("goto", fmt::format("{} has jumps or inline assembly", kernel_.name));
        if (std::ranges::any_of(passed,
                                [&](StmtId id) { return body_.stmt(id).kind == StmtKind::Case; }))
            return refuse("goto", fmt::format("a label of a switch stands between the load on line "
                                              "{} and its first use",
                                              line(load.declaration)));
        return {};
    }

    /// To a function of the file, which may take it by reference.
    [[nodiscard]] bool isPassedOn(ExprId use) const {
        const ExprId call = code_.parent(use);
        return call != noId && body_.expr(call).kind == ExprKind::Call &&
               body_.expr(use).type.pointerDepth == 0 &&
               std::ranges::find(context_.file.deviceFunctions, body_.expr(call).name,
                                 &KernelModel::name) != context_.file.deviceFunctions.end();
    }

    [[nodiscard]] static bool isPure(const Expr& expr) {
        switch (expr.kind) {
        case ExprKind::Integer:
        case ExprKind::Floating:
        case ExprKind::Variable:
        case ExprKind::BuiltinIndex:
        case ExprKind::Member:
        case ExprKind::Subscript:
        case ExprKind::Conditional:
        case ExprKind::Cast:
            return true;
        case ExprKind::Unary:
            return expr.op == "-" || expr.op == "~" || expr.op == "!" || expr.op == "*" ||
                   expr.op == "&";
        case ExprKind::Binary:
            return !isAssignment(expr.op);
        case ExprKind::Call:
            return !expr.isMethod &&
                   (expr.name == "__ldg" || expr.name == "min" || expr.name == "max");
        default:
            return false;
        }
    }

    /// A declaration of the same block has the name of a variable from outside of it.
    [[nodiscard]] bool hidesName(VariableId variable, std::span<const StmtId> passed) const {
        return std::ranges::any_of(passed, [&](StmtId id) {
            return std::ranges::any_of(body_.stmt(id).declared, [&](VariableId declared) {
                return declared != variable &&
                       body_.variable(declared).name == body_.variable(variable).name;
            });
        });
    }

    /// Neither the kernel nor what it calls writes what the load reads.
    [[nodiscard]] Gated<void> requireUnwrittenMemory(const EarlyLoad& load) const {
        const std::vector<ExprId> below =
            code_.expressionsBelow(body_.variable(load.variable).init);
        for (const MemoryAccess& read : kernel_.accesses) {
            if (std::ranges::find(below, read.expression) == below.end())
                continue;
            if (read.space != MemorySpace::Global)
                return refuse("may-alias",
                              fmt::format("line {} reads memory that other threads may write",
                                          line(load.declaration)));
            for (const MemoryAccess& write : kernel_.accesses) {
                const bool mayMeet =
                    write.kind != AccessKind::Read &&
                    (write.space == MemorySpace::Global || write.space == MemorySpace::Generic);
                if (!mayMeet)
                    continue;
                if (write.base == read.base && read.base != noId)
                    return refuse("may-alias", fmt::format("{} is also written",
                                                           body_.variable(read.base).name));
                if (auto distinct = requireDistinctMemory(context_, read.base, write.base);
                    !distinct)
                    return distinct;
            }
            for (const Parameter& parameter : kernel_.parameters) {
                if ((!parameter.isWritten && !parameter.escapes) ||
                    parameter.type.pointerDepth == 0)
                    continue;
                if (parameter.variable == read.base)
                    return refuse("may-alias", fmt::format("{} may be written by what {} calls",
                                                           parameter.name, kernel_.name));
                if (auto distinct = requireDistinctMemory(context_, read.base, parameter.variable);
                    !distinct)
                    return distinct;
            }
        }
        return {};
    }

    [[nodiscard]] Gated<void> requireOwnLines(const EarlyLoad& load,
                                              std::span<const StmtId> passed) const {
        const Stmt& declaration = body_.stmt(load.declaration);
        const Stmt& use = body_.stmt(load.firstUse);
        const bool isWritten = !declaration.fromMacro && !use.fromMacro &&
                               std::ranges::none_of(passed, [&](StmtId id) {
                                   return body_.stmt(id).kind == StmtKind::Other;
                               });
        if (!isWritten || !layout_.startsLine(declaration.span.begin) ||
            !layout_.endsLine(declaration.span.end) || !layout_.startsLine(use.span.begin))
            return refuse("several-statements-a-line",
                          fmt::format("the load on line {} or its first use on line {} is not on "
                                      "a line of its own",
                                      line(load.declaration), line(load.firstUse)));
        const std::vector<Token> tokens =
            lex(context_.file.source->text(), Span{declaration.span.begin, use.span.begin});
        const bool isConditional = std::ranges::any_of(tokens, [](const Token& token) {
            return token.kind == TokenKind::Directive && !token.text.contains("pragma");
        });
        if (isConditional)
            return refuse("between-directives",
                          fmt::format("preprocessor directives stand between the load on line {} "
                                      "and its first use",
                                      line(load.declaration)));
        return {};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceLayout layout_;
};

} // namespace

Gated<std::vector<EarlyLoad>> findEarlyLoads(const SkillContext& context, const CodeMap& code) {
    return Finder(context, code).find();
}

} // namespace kernelskill::skills
