#include "skills/invariant-hoisting/hoist.h"

#include "analysis/queries/loop_effects.h"
#include "analysis/queries/source_layout.h"
#include "analysis/queries/value_spelling.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"
#include "skills/editing/fresh_names.h"
#include "skills/editing/operand_text.h"
#include "skills/invariant-hoisting/pure_values.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isLoopHead(const Stmt& stmt) {
    return stmt.kind == StmtKind::For || stmt.kind == StmtKind::While || stmt.kind == StmtKind::Do;
}

class InvariantFinder {
public:
    explicit InvariantFinder(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          layout_(*context.file.source, context.kernel) {}

    Gated<std::vector<InvariantValue>> find() {
        for (const MathCall& math : kernel_.mathCalls)
            if (const auto function = costlyFunction(body_.expr(math.call)))
                consider(math.call, *function);
        if (found_.empty() && refusal_)
            return std::unexpected(*std::move(refusal_));
        if (found_.empty())
            return refuse("no-invariant-function",
                          fmt::format("no loop of {} evaluates a function of many instructions "
                                      "whose arguments stay the same",
                                      kernel_.name));
        std::ranges::sort(found_, {}, [&](const InvariantValue& value) {
            return body_.expr(value.uses.front()).span.begin;
        });
        return std::move(found_);
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    void keep(const Gated<void>& gate) {
        if (!gate && !refusal_)
            refusal_ = gate.error();
    }

    void consider(ExprId call, const CostlyFunction& function) {
        InvariantValue value{.uses = {}, .call = call, .function = function};
        for (StmtId at = code_.statement(call); at != noId; at = body_.stmt(at).parent)
            if (isLoopHead(body_.stmt(at)) && isRepeated(at, call)) {
                if (!valuesBefore(at).isPure(call))
                    break;
                value.loop = at;
            }
        if (value.loop == noId) {
            keep(requireNoLoad(call));
            return;
        }
        if (std::ranges::all_of(code_.expressionsBelow(call), [&](ExprId id) {
                return body_.expr(id).kind != ExprKind::Variable &&
                       body_.expr(id).kind != ExprKind::BuiltinIndex;
            }))
            return; // The compiler evaluates it.
        const PureValues values = valuesBefore(value.loop);
        const ExprId largest = values.largestAround(call);
        for (InvariantValue& known : found_)
            if (known.loop == value.loop && code_.sameExpression(known.uses.front(), largest)) {
                if (std::ranges::find(known.uses, largest) == known.uses.end())
                    known.uses.push_back(largest);
                known.declared = noId;
                return;
            }
        value.uses = {largest};
        value.inEveryRound = isInRounds(value.loop, call);
        const Gated<void> gate = requireHoistable(value, values);
        if (!gate) {
            keep(gate);
            return;
        }
        value.declared = movable(value);
        found_.push_back(std::move(value));
    }

    /// Each round evaluates it, or its condition does; the start of a for loop runs once.
    [[nodiscard]] bool isRepeated(StmtId loop, ExprId expr) const {
        const StmtId init = body_.stmt(loop).init;
        return init == noId || !code_.holds(init, expr);
    }

    [[nodiscard]] PureValues valuesBefore(StmtId loop) const {
        return {context_, [this, loop](const Expr& name) {
                    if (name.kind == ExprKind::BuiltinIndex)
                        return true;
                    const StmtId declaration = code_.declarationOf(name.variable);
                    return (declaration == noId || !code_.encloses(loop, declaration)) &&
                           !isSharedOut(code_, name.variable) &&
                           std::ranges::none_of(code_.uses(name.variable), [&](ExprId use) {
                               return code_.holds(loop, use) && code_.isWrite(use);
                           });
                }};
    }

    [[nodiscard]] const Loop* modelOf(StmtId loop) const {
        const auto found = std::ranges::find(kernel_.loops, loop, &Loop::statement);
        return found == kernel_.loops.end() ? nullptr : &*found;
    }

    [[nodiscard]] bool isInRounds(StmtId loop, ExprId expr) const {
        const Loop* model = modelOf(loop);
        if (model == nullptr)
            return false;
        return !code_.holds(model->body, expr) || isInEveryRound(code_, *model, expr);
    }

    [[nodiscard]] Gated<void> requireNoLoad(ExprId call) const {
        StmtId loop = code_.statement(call);
        while (loop != noId && !isLoopHead(body_.stmt(loop)))
            loop = body_.stmt(loop).parent;
        const bool isOfLoop =
            loop != noId && isRepeated(loop, call) &&
            std::ranges::all_of(code_.expressionsBelow(call), [&](ExprId id) {
                const Expr& expr = body_.expr(id);
                if (expr.kind != ExprKind::Variable || expr.variable == noId ||
                    expr.type.pointerDepth != 0 || !expr.type.arrayExtents.empty())
                    return true;
                return valuesBefore(loop).isPure(id);
            });
        for (const ExprId id : code_.expressionsBelow(call)) {
            const Expr& expr = body_.expr(id);
            if (isOfLoop && (expr.kind == ExprKind::Subscript ||
                             (expr.kind == ExprKind::Unary && expr.op == "*")))
                return refuse("reads-memory",
                              fmt::format("{} on line {} reads {}, which has to be kept in a "
                                          "register before",
                                          body_.expr(call).name, line(body_.expr(call).span),
                                          context_.file.source->slice(expr.span)));
        }
        return {};
    }

    [[nodiscard]] Gated<void> requireHoistable(const InvariantValue& value,
                                               const PureValues& values) const {
        const Expr& call = body_.expr(value.call);
        const Span loop = body_.stmt(value.loop).span;
        if (value.inEveryRound && value.function.isStraight)
            return refuse(
                "compiler-hoists",
                fmt::format("each round of the loop on line {} evaluates {}, which has no "
                            "branches: nvcc moves it out of the loop by itself",
                            line(loop), call.name));
        if (!values.isSpelled(value.uses.front()) || body_.stmt(value.loop).fromMacro)
            return refuse("from-macro", fmt::format("{} on line {} comes out of a macro", call.name,
                                                    line(call.span)));
        constexpr std::int64_t fewRounds = 4;
        const Loop* model = modelOf(value.loop);
        if (model != nullptr && model->tripCount && *model->tripCount < fewRounds)
            return refuse("few-rounds", fmt::format("the loop on line {} has {} rounds", line(loop),
                                                    *model->tripCount));
        return requirePlace(value.loop);
    }

    [[nodiscard]] Gated<void> requirePlace(StmtId loop) const {
        const Stmt& stmt = body_.stmt(loop);
        const StmtId parent = stmt.parent;
        const bool isInBlock = parent != noId && body_.stmt(parent).kind == StmtKind::Compound;
        const StmtKind around = parent == noId ? StmtKind::Other : body_.stmt(parent).kind;
        const bool isAlone =
            around == StmtKind::For || around == StmtKind::While || around == StmtKind::If;
        if (!isInBlock && !isAlone)
            return refuse("no-place", fmt::format("nothing can stand before the loop on line {}",
                                                  line(stmt.span)));
        const std::uint32_t begin = beginWithPragma(stmt);
        if (!layout_.startsLine(begin) || (isAlone && !layout_.endsLine(stmt.span.end)) ||
            (isAlone && !stmt.pragma.empty()))
            return refuse("several-statements-a-line",
                          fmt::format("other code stands on the lines of the loop on line {}",
                                      line(stmt.span)));
        return {};
    }

    [[nodiscard]] VariableId movable(const InvariantValue& value) const {
        const ExprId use = value.uses.front();
        const StmtId statement = code_.statement(use);
        const Stmt& stmt = body_.stmt(statement);
        if (stmt.kind != StmtKind::Declaration || stmt.declared.size() != 1 ||
            !layout_.startsLine(stmt.span.begin) || !layout_.endsLine(stmt.span.end) ||
            stmt.parent == noId || body_.stmt(stmt.parent).kind != StmtKind::Compound)
            return noId;
        const VariableId id = stmt.declared.front();
        const Variable& variable = body_.variable(id);
        const bool isOne = std::ranges::count(body_.variables, variable.name, &Variable::name) == 1;
        return variable.init == use && !code_.isEverWritten(id) && isOne ? id : noId;
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    SourceLayout layout_;
    std::vector<InvariantValue> found_;
    std::optional<Refusal> refusal_;
};

} // namespace

std::string nameOfUse(const SkillContext& context, ExprId value, std::string_view noun) {
    const FunctionBody& body = context.kernel.body;
    const ExprId user = context.code().parent(value);
    const std::string op = user == noId ? "" : body.expr(user).op;
    if (body.expr(value).kind == ExprKind::Call)
        return std::string{noun};
    if (op == "/=" || (op == "/" && body.expr(user).children[1] == value))
        return "divisor";
    return op == "*" || op == "*=" ? "factor" : "term";
}

Gated<std::vector<InvariantValue>> invariantValues(const SkillContext& context) {
    return InvariantFinder(context).find();
}

std::vector<std::string> valueNames(const SkillContext& context,
                                    const std::vector<InvariantValue>& values) {
    const FunctionBody& body = context.kernel.body;
    FreshNames fresh(body);
    std::vector<std::string> names;
    for (const InvariantValue& value : values) {
        if (value.declared != noId) {
            names.push_back(body.variable(value.declared).name);
            continue;
        }
        names.push_back(fresh.add(nameOfUse(context, value.uses.front(), value.function.noun)));
    }
    return names;
}

void hoist(Draft& draft, const SkillContext& context, const std::vector<InvariantValue>& values,
           const std::vector<std::string>& names) {
    const FunctionBody& body = context.kernel.body;
    const SourceText& source = *context.file.source;
    const StmtId loop = values.front().loop;
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const InvariantValue& value = values[i];
        if (value.declared != noId) {
            const StmtId declaration = context.code().declarationOf(value.declared);
            // With the comment behind it.
            const SourceLayout& layout = draft.layout();
            const Span span = body.stmt(declaration).span;
            lines.emplace_back(source.slice({span.begin, layout.endOfLineTrivia(span.end)}));
            draft.replace({layout.lineBegin(span.begin), layout.lineAfter(span.end)}, {});
            continue;
        }
        const Expr& first = body.expr(value.uses.front());
        lines.push_back(fmt::format("const {} {} = {};", valueSpelling(first.type), names[i],
                                    source.slice(first.span)));
        for (const ExprId use : value.uses)
            draft.replace(withParentheses(source, body.expr(use).span), names[i]);
    }
    const StmtId parent = body.stmt(loop).parent;
    if (body.stmt(parent).kind == StmtKind::Compound) {
        draft.before(loop, lines);
        return;
    }
    const std::vector<Token> head =
        lex(source.text(), {body.stmt(parent).span.begin, body.stmt(loop).span.begin});
    const Span last = head.back().span;
    draft.replace({last.end, last.end}, " {");
    draft.before(loop, lines);
    const SourceLayout& layout = draft.layout();
    draft.insertAfter(loop, layout.indentation(last.begin) + "}" + layout.newline());
}

} // namespace kernelskill::skills
