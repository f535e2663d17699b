#include "skills/loop-unrolling/accumulators.h"

#include "analysis/syntax/lexer.h"
#include "skills/rewriting/gates.h"
#include "skills/rewriting/index_arithmetic.h"
#include "skills/rewriting/source_layout.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isInteger(const Type& type) {
    return type.pointerDepth == 0 && !type.isReference &&
           (type.scalar == ScalarKind::Int32 || type.scalar == ScalarKind::UInt32 ||
            type.scalar == ScalarKind::Int64 || type.scalar == ScalarKind::UInt64);
}

bool isUnsigned(const Type& type) {
    return type.scalar == ScalarKind::UInt32 || type.scalar == ScalarKind::UInt64;
}

bool isFloatingScalar(const Type& type) {
    return (type.scalar == ScalarKind::Float || type.scalar == ScalarKind::Double) &&
           type.lanes == 1 && type.pointerDepth == 0 && type.arrayExtents.empty() &&
           !type.isReference && !type.isVolatile;
}

std::optional<Reduction> reductionOf(std::string_view function) {
    for (const std::string_view name : {"fmaxf", "fmax", "max"})
        if (function == name)
            return Reduction::Maximum;
    for (const std::string_view name : {"fminf", "fmin", "min"})
        if (function == name)
            return Reduction::Minimum;
    return std::nullopt;
}

bool isFusedMultiplyAdd(std::string_view function) {
    return function == "fmaf" || function == "fma" || function == "__fmaf_rn";
}

/// `acc` in `a op b`, where exactly one side is the accumulator.
bool isOneSide(const CodeMap& code, const Expr& expr, VariableId variable) {
    return expr.children.size() == 2 && (code.namedVariable(expr.children[0]) == variable) !=
                                            (code.namedVariable(expr.children[1]) == variable);
}

/// What `assignment` folds into the variable on its left.
std::optional<Accumulator> foldOf(const CodeMap& code, const Expr& assignment) {
    const VariableId variable = code.body().expr(assignment.children[0]).variable;
    if (assignment.op == "+=" || assignment.op == "-=")
        return Accumulator{variable, Reduction::Sum, {}};
    if (assignment.op == "*=")
        return Accumulator{variable, Reduction::Product, {}};
    if (assignment.op != "=")
        return std::nullopt;
    const Expr& value = code.body().expr(code.withoutCasts(assignment.children[1]));
    if (value.kind == ExprKind::Binary && value.op == "+" && isOneSide(code, value, variable))
        return Accumulator{variable, Reduction::Sum, {}};
    if (value.kind == ExprKind::Binary && value.op == "-" &&
        code.namedVariable(value.children[0]) == variable)
        return Accumulator{variable, Reduction::Sum, {}};
    if (value.kind == ExprKind::Binary && value.op == "*" && isOneSide(code, value, variable))
        return Accumulator{variable, Reduction::Product, {}};
    if (value.kind != ExprKind::Call || value.isMethod)
        return std::nullopt;
    if (isFusedMultiplyAdd(value.name) && value.children.size() == 3 &&
        code.namedVariable(value.children[2]) == variable)
        return Accumulator{variable, Reduction::Sum, {}};
    const auto reduction = reductionOf(value.name);
    if (reduction && isOneSide(code, value, variable))
        return Accumulator{variable, *reduction, value.name};
    return std::nullopt;
}

/// How often `foldOf` lets the statement name the accumulator: itself, and once on the right of a
/// plain '='.
std::size_t namesInFold(const Expr& assignment) {
    return assignment.op == "=" ? 2 : 1;
}

class Finder {
public:
    Finder(const SkillContext& context, const CodeMap& code, const Loop& loop)
        : context_(context), code_(code), loop_(loop), body_(code.body()) {}

    std::expected<std::vector<Accumulator>, Refusal> find() {
        if (auto shape = requireShape(); !shape)
            return std::unexpected(shape.error());
        for (const StmtId id : code_.statementsIn(loop_.body))
            if (auto allowed = requireAllowed(body_.stmt(id)); !allowed)
                return std::unexpected(allowed.error());
        for (const ExprId id : code_.expressionsIn(loop_.body))
            if (auto allowed = visit(id); !allowed)
                return std::unexpected(allowed.error());
        if (accumulators_.empty())
            return refuse("no-accumulator",
                          fmt::format("the loop on line {} folds nothing into a float or double",
                                      line(loop_.statement)));
        for (std::size_t i = 0; i < accumulators_.size(); ++i) {
            const VariableId variable = accumulators_[i].variable;
            const auto inLoop = static_cast<std::size_t>(
                std::ranges::count_if(code_.uses(variable), [&](ExprId use) {
                    return code_.holds(loop_.statement, use);
                }));
            if (inLoop != names_[i])
                return refuse("uses-accumulator-in-loop",
                              fmt::format("the loop on line {} also reads {}",
                                          line(loop_.statement), body_.variable(variable).name));
        }
        return accumulators_;
    }

private:
    [[nodiscard]] std::uint32_t line(StmtId stmt) const {
        return lineNumber(context_, body_.stmt(stmt).span.begin);
    }

    [[nodiscard]] std::expected<void, Refusal> requireShape() const {
        const Stmt& stmt = body_.stmt(loop_.statement);
        const auto no = [&](std::string_view why) {
            return refuse("not-counted-up",
                          fmt::format("the loop on line {} {}", line(loop_.statement), why));
        };
        if (loop_.kind != LoopKind::For || loop_.inductionVariable == noId || stmt.init == noId ||
            stmt.condition == noId || stmt.increment == noId)
            return no("is not a counted for loop");
        if (stmt.parent == noId || body_.stmt(stmt.parent).kind != StmtKind::Compound)
            return no("is the only statement of another one");
        const Expr& condition = body_.expr(stmt.condition);
        if (condition.kind != ExprKind::Binary || condition.op != "<" ||
            code_.namedVariable(condition.children[0]) != loop_.inductionVariable)
            return no("does not run while its index is below a limit");
        if (!isInteger(body_.variable(loop_.inductionVariable).type))
            return no("does not count in an int or a wider integer");
        if (!isStride())
            return no("does not advance by the same amount each round");
        if (!isInvariant(condition.children[1]))
            return no("has a limit that may change while it runs");
        const bool declares = body_.stmt(stmt.init).kind == StmtKind::Declaration;
        if (declares && (body_.stmt(stmt.init).declared.size() != 1 ||
                         body_.variable(loop_.inductionVariable).init == noId))
            return no("declares more than its index");
        for (const ExprId use : code_.uses(loop_.inductionVariable)) {
            const bool inBody = code_.holds(loop_.body, use);
            if (inBody && (code_.isWrite(use) || body_.expr(use).fromMacro))
                return no("changes its index, or names it in a macro");
        }
        return {};
    }

    /// `++i`, `i += c`, or `i += blockDim.x`: a positive amount that cannot wrap when multiplied by
    /// the factor.
    [[nodiscard]] bool isStride() const {
        if (loop_.step)
            return *loop_.step > 0 && *loop_.step < (1 << 20);
        const Expr& increment = body_.expr(body_.stmt(loop_.statement).increment);
        if (increment.kind != ExprKind::Binary || increment.op != "+=")
            return false;
        return std::ranges::all_of(code_.expressionsBelow(increment.children[1]), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            return (expr.kind == ExprKind::BuiltinIndex && expr.name == "blockDim") ||
                   (expr.kind == ExprKind::Cast) ||
                   (expr.kind == ExprKind::Integer && expr.integer > 0 && expr.integer <= 1024) ||
                   (expr.kind == ExprKind::Binary && expr.op == "*");
        });
    }

    /// Nothing the limit reads is written in the loop. The loop stores nothing to memory, see
    /// visit().
    [[nodiscard]] bool isInvariant(ExprId limit) const {
        return std::ranges::all_of(code_.expressionsBelow(limit), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            if (expr.kind == ExprKind::Call || expr.kind == ExprKind::Other ||
                expr.type.isVolatile || (expr.kind == ExprKind::Binary && isAssignment(expr.op)) ||
                expr.op.contains("++") || expr.op.contains("--"))
                return false;
            if (expr.kind != ExprKind::Variable)
                return true;
            return expr.variable != noId &&
                   std::ranges::none_of(code_.uses(expr.variable), [&](ExprId use) {
                       return code_.holds(loop_.statement, use) && code_.isWrite(use);
                   });
        });
    }

    [[nodiscard]] std::expected<void, Refusal> requireAllowed(const Stmt& stmt) const {
        const std::uint32_t at = lineNumber(context_, stmt.span.begin);
        switch (stmt.kind) {
        case StmtKind::Compound:
        case StmtKind::Declaration:
        case StmtKind::Expression:
        case StmtKind::If:
        case StmtKind::Null:
            if (stmt.fromMacro)
                return refuse("from-macro", fmt::format("line {} comes out of a macro", at));
            return {};
        case StmtKind::For:
        case StmtKind::While:
        case StmtKind::Do:
        case StmtKind::RangeFor:
            return refuse("not-innermost", fmt::format("another loop is inside, on line {}", at));
        default:
            return refuse("early-exit", fmt::format("line {} leaves the round early", at));
        }
    }

    std::expected<void, Refusal> visit(ExprId id) {
        const Expr& expr = body_.expr(id);
        const std::uint32_t at = lineNumber(context_, expr.span.begin);
        if (expr.kind == ExprKind::Call && changesState(expr))
            return refuse("call-in-loop",
                          fmt::format("what {} on line {} changes is not known", expr.name, at));
        const bool assigns = expr.kind == ExprKind::Binary && isAssignment(expr.op);
        const bool steps =
            expr.kind == ExprKind::Unary && (expr.op.contains("++") || expr.op.contains("--"));
        if (!assigns && !steps)
            return {};
        const Expr& target = body_.expr(expr.children[0]);
        if (target.kind != ExprKind::Variable || target.variable == noId)
            return refuse("writes-memory-in-loop",
                          fmt::format("line {} writes more than a local variable", at));
        const StmtId declaration = code_.declarationOf(target.variable);
        if (declaration != noId && code_.encloses(loop_.body, declaration))
            return {};
        const Variable& variable = body_.variable(target.variable);
        if (!isFloatingScalar(variable.type) || variable.storage != Storage::Local || steps ||
            expr.fromMacro)
            return refuse(
                "no-accumulator",
                fmt::format("line {} carries {} from round to round, and it is no float or "
                            "double accumulator",
                            at, variable.name));
        const auto fold = foldOf(code_, expr);
        if (!fold)
            return refuse("no-accumulator",
                          fmt::format("line {} does not fold a value into {}", at, variable.name));
        const auto known = std::ranges::find(accumulators_, fold->variable, &Accumulator::variable);
        if (known == accumulators_.end()) {
            accumulators_.push_back(*fold);
            names_.push_back(namesInFold(expr));
        } else if (known->reduction != fold->reduction) {
            return refuse("no-accumulator",
                          fmt::format("line {} folds into {} in another way", at, variable.name));
        } else {
            names_[static_cast<std::size_t>(known - accumulators_.begin())] += namesInFold(expr);
        }
        return {};
    }

    /// Barriers, atomics, stores, and functions whose body may write.
    [[nodiscard]] bool changesState(const Expr& call) const {
        if (call.isMethod || call.name.starts_with("atomic") || call.name.starts_with("__st") ||
            call.name.starts_with("__sync") || call.name.contains("_sync") ||
            call.name == "printf" || call.name.starts_with("cg::") || call.name.contains("curand"))
            return true;
        const auto callee =
            std::ranges::find(context_.file.deviceFunctions, call.name, &KernelModel::name);
        if (callee == context_.file.deviceFunctions.end())
            return call.name.starts_with("asm");
        return !callee->barriers.empty() || !callee->warpOperations.empty() ||
               !callee->atomics.empty() || !callee->calls.empty() ||
               std::ranges::any_of(callee->parameters, [](const Parameter& parameter) {
                   return parameter.isWritten || parameter.escapes;
               });
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const Loop& loop_;
    const FunctionBody& body_;
    std::vector<Accumulator> accumulators_;
    std::vector<std::size_t> names_; ///< How often the folds name each accumulator.
};

class Splitter {
public:
    Splitter(const SkillContext& context, const CodeMap& code, const Loop& loop,
             const std::vector<Accumulator>& accumulators, int factor)
        : context_(context), code_(code), loop_(loop), body_(code.body()),
          source_(*context.file.source), layout_(source_, context.kernel),
          accumulators_(accumulators), factor_(factor),
          indexName_(body_.variable(loop.inductionVariable).name) {
        for (const Accumulator& accumulator : accumulators_) {
            std::vector<std::string> names{body_.variable(accumulator.variable).name};
            for (int copy = 1; copy < factor_; ++copy)
                names.push_back(freshName(body_, fmt::format("{}{}", names[0], copy)));
            names_.push_back(std::move(names));
        }
    }

    std::vector<TextEdit> edits() {
        const Stmt& stmt = body_.stmt(loop_.statement);
        const Stmt& init = body_.stmt(stmt.init);
        const std::string indentation = layout_.indentation(stmt.span.begin);
        CodeLines lines(layout_, indentation);
        for (std::size_t i = 0; i < accumulators_.size(); ++i)
            lines.add(declaration(i));
        const std::string originalName = indexName_;
        TextEdit newInit{init.span, ";"};
        if (init.kind == StmtKind::Declaration) {
            const Variable& index = body_.variable(loop_.inductionVariable);
            if (isDeclaredBeside())
                indexName_ = freshName(body_, indexName_ + "Next");
            lines.add(fmt::format("{} {} = {};", index.type.spelling, indexName_,
                                  source_.slice(body_.expr(index.init).span)));
            if (indexName_ != originalName)
                newInit = {body_.expr(index.init).span, indexName_};
        } else {
            lines.add(fmt::format("{};", initText(init)));
        }
        lines.open(fmt::format("for (; {}; {}) {{", condition(), increment()));
        for (int copy = 0; copy < factor_; ++copy)
            addRound(lines, copy);
        lines.close();
        std::string before = lines.text() + indentation;
        before.erase(0, indentation.size());

        const std::uint32_t begin = stmt.span.begin;
        const std::uint32_t end = layout_.endOfLineTrivia(stmt.span.end);
        std::string after;
        for (std::size_t i = 0; i < accumulators_.size(); ++i)
            after += layout_.newline() + indentation + combination(i);
        if (newInit.newText == ";" && !source_.slice(init.span).ends_with(";"))
            newInit.newText.clear();
        return {{{begin, begin}, std::move(before)}, newInit, {{end, end}, std::move(after)}};
    }

private:
    [[nodiscard]] std::string initText(const Stmt& init) const {
        std::string text{source_.slice(init.span)};
        while (text.ends_with(';'))
            text.pop_back();
        return text;
    }

    /// The scope that would hold the index already has a variable of its name.
    [[nodiscard]] bool isDeclaredBeside() const {
        const StmtId scope = body_.stmt(loop_.statement).parent;
        for (VariableId id = 0; id < body_.variables.size(); ++id) {
            if (id == loop_.inductionVariable || body_.variable(id).name != indexName_)
                continue;
            const StmtId declaration = code_.declarationOf(id);
            const bool inNestedFor = declaration != noId &&
                                     body_.stmt(declaration).parent != scope &&
                                     !code_.encloses(declaration, loop_.statement);
            if (!inNestedFor)
                return true;
        }
        return false;
    }

    [[nodiscard]] std::string declaration(std::size_t i) const {
        const Accumulator& accumulator = accumulators_[i];
        const bool isDouble =
            body_.variable(accumulator.variable).type.scalar == ScalarKind::Double;
        std::string start = names_[i][0]; // folding a minimum or maximum twice changes nothing
        if (accumulator.reduction == Reduction::Sum)
            start = isDouble ? "0.0" : "0.0f";
        else if (accumulator.reduction == Reduction::Product)
            start = isDouble ? "1.0" : "1.0f";
        std::string text = isDouble ? "double " : "float ";
        for (int copy = 1; copy < factor_; ++copy)
            text += fmt::format("{}{} = {}", copy == 1 ? "" : ", ",
                                names_[i][static_cast<std::size_t>(copy)], start);
        return text + ";";
    }

    /// `(sum + sum1) + (sum2 + sum3)`: as shallow as it can be.
    [[nodiscard]] std::string combination(std::size_t i) const {
        const Accumulator& accumulator = accumulators_[i];
        std::vector<std::string> terms = names_[i];
        while (terms.size() > 1) {
            std::vector<std::string> pairs;
            for (std::size_t k = 0; k + 1 < terms.size(); k += 2)
                pairs.push_back(joined(accumulator, terms[k], terms[k + 1], terms.size() > 2));
            terms = std::move(pairs);
        }
        return fmt::format("{} = {};", names_[i][0], terms[0]);
    }

    [[nodiscard]] static std::string joined(const Accumulator& accumulator, const std::string& a,
                                            const std::string& b, bool isInner) {
        if (accumulator.reduction == Reduction::Minimum ||
            accumulator.reduction == Reduction::Maximum)
            return fmt::format("{}({}, {})", accumulator.function, a, b);
        const char op = accumulator.reduction == Reduction::Sum ? '+' : '*';
        const std::string text = fmt::format("{} {} {}", a, op, b);
        return isInner ? "(" + text + ")" : text;
    }

    [[nodiscard]] std::string stride() const {
        if (loop_.step)
            return std::to_string(*loop_.step);
        const Expr& increment = body_.expr(body_.stmt(loop_.statement).increment);
        const Expr& amount = body_.expr(increment.children[1]);
        const std::string text{source_.slice(amount.span)};
        return amount.kind == ExprKind::Binary ? fmt::format("({})", text) : text;
    }

    [[nodiscard]] std::string times(int count) const {
        if (loop_.step)
            return std::to_string(*loop_.step * count);
        return count == 1 ? stride() : fmt::format("{} * {}", count, stride());
    }

    /// True while `factor` rounds fit, without an overflow that the original loop does not have.
    [[nodiscard]] std::string condition() const {
        const Stmt& stmt = body_.stmt(loop_.statement);
        const Expr& written = body_.expr(stmt.condition);
        const Expr& limit = body_.expr(written.children[1]);
        const std::string text{source_.slice(limit.span)};
        const bool needsBrackets =
            limit.kind == ExprKind::Conditional ||
            (limit.kind == ExprKind::Binary && limit.op != "+" && limit.op != "-" &&
             limit.op != "*" && limit.op != "/" && limit.op != "%");
        const std::string bracketed = needsBrackets ? fmt::format("({})", text) : text;
        const bool mayWrap = isUnsigned(limit.type) || !isInteger(limit.type) ||
                             isUnsigned(body_.variable(loop_.inductionVariable).type) ||
                             !loop_.step;
        const auto value = code_.constantValue(written.children[1]);
        const bool isLargeConstant = value && loop_.step && *value >= *loop_.step * factor_;
        if (!mayWrap || isLargeConstant)
            return fmt::format("{} < {} - {}", indexName_, bracketed, times(factor_ - 1));
        return fmt::format("{0} < {1} && {1} - {0} > {2}", indexName_, bracketed,
                           times(factor_ - 1));
    }

    [[nodiscard]] std::string increment() const {
        return fmt::format("{} += {}", indexName_, times(factor_));
    }

    void addRound(CodeLines& lines, int copy) const {
        const std::vector<StmtId> statements = code_.statementsOf(loop_.body);
        const bool declares = std::ranges::any_of(
            statements, [&](StmtId id) { return body_.stmt(id).kind == StmtKind::Declaration; });
        if (declares)
            lines.open("{");
        for (const StmtId id : statements) {
            const Span span = body_.stmt(id).span;
            lines.addBlock(rewritten(source_, span, substitutions(span, copy)),
                           layout_.indentation(span.begin));
        }
        if (declares)
            lines.close();
    }

    [[nodiscard]] std::vector<TextEdit> substitutions(Span span, int copy) const {
        std::vector<TextEdit> parts;
        for (const ExprId use : code_.uses(loop_.inductionVariable)) {
            const Expr& expr = body_.expr(use);
            if (!span.contains(expr.span))
                continue;
            if (copy == 0) {
                parts.push_back({expr.span, indexName_});
                continue;
            }
            const std::string moved = fmt::format("{} + {}", indexName_, times(copy));
            parts.push_back({expr.span, standsAlone(use) ? moved : "(" + moved + ")"});
        }
        for (std::size_t i = 0; copy > 0 && i < accumulators_.size(); ++i)
            for (const ExprId use : code_.uses(accumulators_[i].variable))
                if (span.contains(body_.expr(use).span))
                    parts.push_back(
                        {body_.expr(use).span, names_[i][static_cast<std::size_t>(copy)]});
        return parts;
    }

    /// A sum in this place needs no brackets.
    [[nodiscard]] bool standsAlone(ExprId use) const {
        const ExprId parent = code_.parent(use);
        if (parent == noId)
            return true;
        const Expr& above = body_.expr(parent);
        if (above.kind == ExprKind::Subscript)
            return above.children[1] == use;
        return above.kind == ExprKind::Binary && above.op == "+" && loop_.step.has_value();
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const Loop& loop_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    const std::vector<Accumulator>& accumulators_;
    int factor_;
    std::string indexName_;
    std::vector<std::vector<std::string>> names_; ///< Per accumulator, the original's name first.
};

} // namespace

std::expected<std::vector<Accumulator>, Refusal>
findAccumulators(const SkillContext& context, const CodeMap& code, const Loop& loop) {
    return Finder(context, code, loop).find();
}

std::vector<TextEdit> splitAccumulators(const SkillContext& context, const CodeMap& code,
                                        const Loop& loop,
                                        const std::vector<Accumulator>& accumulators, int factor) {
    return Splitter(context, code, loop, accumulators, factor).edits();
}

bool isUnrolledByHand(const KernelModel& kernel, const CodeMap& code, const Loop& loop) {
    const FunctionBody& body = code.body();
    if (loop.inductionVariable == noId)
        return false;
    const auto advances = [&](VariableId variable, const Stmt& stmt) {
        return stmt.increment != noId &&
               std::ranges::any_of(code.expressionsBelow(stmt.increment), [&](ExprId id) {
                   return body.expr(id).variable == variable &&
                          body.expr(id).kind == ExprKind::Variable;
               });
    };
    // The index plus a constant below the step: rounds written out.
    if (loop.step && *loop.step > 1)
        for (const ExprId use : code.uses(loop.inductionVariable)) {
            const ExprId parent = code.parent(use);
            if (parent == noId || !code.holds(loop.body, use) || body.expr(parent).op != "+")
                continue;
            const auto amount = code.constantValue(body.expr(parent).children[1]);
            if (amount && *amount > 0 && *amount < *loop.step)
                return true;
        }
    // A loop that goes on where the loop before it stopped.
    const Stmt& stmt = body.stmt(loop.statement);
    VariableId start = noId;
    if (stmt.init == noId || body.stmt(stmt.init).kind == StmtKind::Null)
        start = loop.inductionVariable;
    else if (body.variable(loop.inductionVariable).init != noId)
        start = code.namedVariable(body.variable(loop.inductionVariable).init);
    if (start == noId)
        return false;
    return std::ranges::any_of(kernel.loops, [&](const Loop& other) {
        const Stmt& otherStmt = body.stmt(other.statement);
        return other.statement != loop.statement && otherStmt.parent == stmt.parent &&
               advances(start, otherStmt);
    });
}

} // namespace kernelskill::skills
