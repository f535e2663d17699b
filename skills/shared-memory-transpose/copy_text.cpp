#include "skills/shared-memory-transpose/copy_text.h"

#include "analysis/queries/guarded_work.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/value_spelling.h"
#include "skills/base/gates.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/operand_text.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

std::string bracketed(std::string text) {
    int depth = 0;
    bool isEnclosed = text.starts_with('(');
    for (std::size_t at = 0; at < text.size(); ++at) {
        depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
        isEnclosed = isEnclosed && (depth > 0 || at + 1 == text.size());
    }
    return text.contains(' ') && !isEnclosed ? "(" + text + ")" : text;
}

/// A type that a local may be declared with.
std::string declared(const Type& type) {
    std::string text = valueSpelling(type);
    if (!text.contains("auto") && !text.empty())
        return text;
    Type resolved;
    resolved.spelling = type.canonical;
    return valueSpelling(resolved);
}

} // namespace

CopyText::CopyText(const SkillContext& context, const CrossedCopy& copy)
    : context_(context), copy_(copy), code_(context.code()), body_(code_.body()),
      source_(*context.file.source) {
    hasUnderscores_ = std::ranges::any_of(body_.variables, [](const Variable& variable) {
        return variable.storage == Storage::Local && variable.name.contains('_');
    });
    // Numbers of elements have the type of the position that counts them, if a name holds it.
    Type counting;
    const PositionSlice whole{copy.in.slice.axis, {}, std::nullopt};
    for (ExprId id = 0; id < body_.exprs.size(); ++id) {
        const IndexExpression* value = copy.digits->value(id);
        const PositionSlice* slice = value ? copy.digits->sliceIn(*value) : nullptr;
        const Expr& expr = body_.expr(id);
        if (slice == nullptr || *slice != whole || expr.kind == ExprKind::Cast)
            continue;
        counting = expr.type;
        if (expr.kind == ExprKind::Variable)
            break;
    }
    countType_ = declared(counting);
    const auto add = [&](const CopyDigit& digit, const std::string& wanted) {
        NamedDigit named{&digit, {}, {}, {}};
        if (digit.variable != noId) {
            named.name = body_.variable(digit.variable).name;
            named.type = body_.variable(digit.variable).type;
        } else {
            named.name = fresh(wanted);
            named.type = digit.example != noId ? body_.expr(digit.example).type : counting;
        }
        named.typeText = declared(named.type);
        digits_.push_back(std::move(named));
    };
    add(copy.in, "column");
    add(copy.out, "row");
    for (const CopyDigit& digit : copy.others)
        add(digit, "outer");
    std::ranges::stable_sort(digits_, [](const NamedDigit& a, const NamedDigit& b) {
        return a.digit->slice.low != b.digit->slice.low &&
               a.digit->slice.low.dividedBy(b.digit->slice.low).has_value();
    });
    findOnce();
}

std::string CopyText::fresh(const std::string& wanted) {
    std::string name = freshName(body_, wanted);
    for (int number = 2; taken_.contains(name); ++number)
        name = freshName(body_, fmt::format("{}{}", wanted, number));
    taken_.insert(name);
    return name;
}

std::string CopyText::joined(const std::string& name, std::string_view word) const {
    if (hasUnderscores_)
        return fmt::format("{}_{}", name, word);
    std::string capital(word);
    capital[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(capital[0])));
    return name + capital;
}

const CopyText::NamedDigit& CopyText::named(const CopyDigit& digit) const {
    return *std::ranges::find(digits_, &digit, &NamedDigit::digit);
}

bool CopyText::isDigit(VariableId variable) const {
    return std::ranges::any_of(
        digits_, [&](const NamedDigit& named) { return named.digit->variable == variable; });
}

void CopyText::refuseOnce(std::string gate, std::string reason) {
    if (!refusal_)
        refusal_ = Refusal{std::move(gate), std::move(reason)};
}

std::string CopyText::lineOf(ExprId id) const {
    return fmt::format("line {}", lineNumber(context_, body_.expr(id).span.begin));
}

bool CopyText::isTiled(std::uint8_t axis) const {
    return axis == copy_.in.slice.axis || axis == copy_.out.slice.axis;
}

bool CopyText::staysValid(const Expr& builtin) const {
    const bool isTurned =
        copy_.form == TileForm::Loop
            ? builtin.axis == 0 || (builtin.axis == 1 && copy_.in.slice.axis == flatAxis)
            : isTiled(builtin.axis);
    if (builtin.name == "threadIdx")
        return !isTurned && copy_.form != TileForm::Grid;
    if (builtin.name == "blockIdx")
        return !isTurned;
    if (builtin.name == "blockDim")
        return copy_.form != TileForm::Grid;
    return copy_.form == TileForm::Block || !isTurned ||
           (copy_.form == TileForm::Loop && !copy_.resizesGrid);
}

/// Whether all threads of a block compute the same value, without reading memory.
bool CopyText::isOfBlock(ExprId root) const {
    return std::ranges::all_of(code_.expressionsBelow(root), [&](ExprId id) {
        const Expr& expr = body_.expr(id);
        const IndexExpression* value = copy_.digits->value(id);
        if (value != nullptr && std::ranges::any_of(value->terms(), [&](const auto& term) {
                return std::ranges::any_of(term.first, [&](Symbol symbol) {
                    const PositionSlice* slice = copy_.digits->slice(symbol);
                    return slice != nullptr && isTiled(slice->axis);
                });
            }))
            return false;
        switch (expr.kind) {
        case ExprKind::BuiltinIndex:
            return expr.name != "threadIdx" && staysValid(expr);
        case ExprKind::Variable: {
            if (expr.variable == noId)
                return false;
            const Variable& variable = body_.variable(expr.variable);
            if (variable.constantValue)
                return true;
            if (code_.isEverWritten(expr.variable) || variable.type.isReference)
                return false;
            return variable.storage == Storage::Parameter ||
                   variable.storage == Storage::Constant ||
                   variable.storage == Storage::HostGlobal ||
                   (variable.storage == Storage::Local &&
                    once_.contains(code_.declarationOf(expr.variable)));
        }
        case ExprKind::Member:
            return !expr.isArrow && body_.expr(expr.children[0]).kind == ExprKind::Variable;
        default:
            return isPlainOperation(expr);
        }
    });
}

void CopyText::findOnce() {
    for (const StmtId id : copy_.element.statements) {
        const Stmt& stmt = body_.stmt(id);
        if (stmt.kind == StmtKind::Declaration &&
            std::ranges::all_of(stmt.declared, [&](VariableId variable) {
                return !code_.isEverWritten(variable) && !isDigit(variable) &&
                       body_.variable(variable).init != noId &&
                       !body_.variable(variable).type.isReference &&
                       isOfBlock(body_.variable(variable).init);
            }))
            once_.insert(id);
    }
}

bool CopyText::isWrittenByValue(VariableId variable) const {
    return variable != copy_.element.strided && code_.isEverWritten(variable) &&
           isIndexType(body_.variable(variable).type) && copy_.digits->isFollowed(variable);
}

std::string CopyText::product(const SizeProduct& product) {
    for (const VariableId variable : copy_.digits->named(product))
        if (variable != noId && body_.variable(variable).storage == Storage::Local &&
            !once_.contains(code_.declarationOf(variable)))
            refuseOnce("place-not-recomputable",
                       fmt::format("{} is a size that is not known in front of the tiles",
                                   body_.variable(variable).name));
    return copy_.digits->text(product);
}

std::string CopyText::extent(const CopyDigit& digit) {
    if (digit.extent)
        return product(*digit.extent);
    const std::string unit = bracketed(product(digit.slice.low));
    if (digit.limit == noId)
        return copy_.isUnbounded ? fmt::format("({0} + {1} - 1) / {1}", launchedPositions(), unit)
                                 : std::string();
    if (!isOfBlock(digit.limit))
        refuseOnce(
            "place-not-recomputable",
            fmt::format("the limit on {} is not known in front of the tiles", lineOf(digit.limit)));
    std::string limit = besideComparison(source_, body_.expr(digit.limit));
    if (digit.isLimitIncluded)
        limit += " + 1";
    if (!digit.isLimitOfWhole || digit.slice.low.isOne())
        return limit;
    return fmt::format("({0} + {1} - 1) / {1}", limit, unit);
}

std::string CopyText::launchedPositions() const {
    return copy_.in.slice.axis == flatAxis ? "gridDim.x * gridDim.y * blockDim.x"
                                           : "gridDim.x * blockDim.x";
}

std::string CopyText::factor(const CopyDigit& digit) {
    return bracketed(extent(digit));
}

std::string CopyText::sliceText(const PositionSlice& slice, const Type& type) {
    std::string text;
    for (const NamedDigit& each : digits_) {
        const PositionSlice& digit = each.digit->slice;
        // Slice and digit are products of the same sizes: one end divides the other, or they
        // overlap.
        const bool endsBelow = slice.high && digit.low.dividedBy(*slice.high);
        const bool beginsAbove = digit.high && slice.low.dividedBy(*digit.high);
        if (digit.axis != slice.axis || endsBelow || beginsAbove)
            continue;
        const auto skipped = slice.low.dividedBy(digit.low);
        const bool endsWithin = slice.high && slice.high != digit.high &&
                                (!digit.high || digit.high->dividedBy(*slice.high));
        const SizeProduct low = skipped ? slice.low : digit.low;
        std::string part = each.name;
        if (text.empty() && each.type.scalar != type.scalar && isIndexType(type))
            part = fmt::format("static_cast<{}>({})", declared(type), part);
        if (skipped && !skipped->isOne())
            part += " / " + bracketed(product(*skipped));
        if (endsWithin)
            part += " % " + bracketed(product(*slice.high->dividedBy(low)));
        if (text.empty()) {
            text = std::move(part);
            continue;
        }
        const std::string rows = low == digit.low && !endsWithin
                                     ? factor(*each.digit)
                                     : bracketed(product(*digit.high->dividedBy(low)));
        text = fmt::format("{} * {} + {}", bracketed(text), rows, part);
    }
    return text;
}

void CopyText::replace(ExprId id, std::string text, std::vector<TextEdit>& parts) {
    const Expr& expr = body_.expr(id);
    // If only the right side is a macro, the text of the whole expression is the file's own.
    const bool isOwn =
        !expr.fromMacro || (expr.kind == ExprKind::Binary && expr.children.size() == 2 &&
                            !body_.expr(expr.children[0]).fromMacro &&
                            body_.expr(expr.children[1]).kind == ExprKind::Integer);
    if (!isOwn)
        refuseOnce("from-macro", fmt::format("{} asks for a position inside a macro", lineOf(id)));
    parts.push_back({expr.span, std::move(text)});
}

void CopyText::collect(ExprId id, const Replacement& replacement, std::vector<TextEdit>& parts) {
    const Expr& expr = body_.expr(id);
    if (replacement)
        if (std::string text = replacement(id); !text.empty()) {
            replace(id, std::move(text), parts);
            return;
        }
    const IndexExpression* value = copy_.digits->value(id);
    const PositionSlice* slice = value ? copy_.digits->sliceIn(*value) : nullptr;
    const bool isName = expr.kind == ExprKind::Variable && expr.variable != noId;
    if (isName && !isWrittenByValue(expr.variable)) {
        needed_.insert(expr.variable);
        return;
    }
    if (slice != nullptr && expr.kind != ExprKind::Cast) {
        if (isTiled(slice->axis)) {
            replace(id, bracketed(sliceText(*slice, expr.type)), parts);
            return;
        }
        if (slice->isWhole() && copy_.form == TileForm::Grid && slice->axis < 3) {
            replace(id, fmt::format("blockIdx.{}", "xyz"[slice->axis]), parts);
            return;
        }
    }
    if (isName) {
        if (const auto number = value ? value->asConstant() : std::nullopt)
            replace(id, fmt::format("{}", *number), parts);
        else
            refuseOnce("place-not-recomputable",
                       fmt::format("{} on {} is an index that changes",
                                   body_.variable(expr.variable).name, lineOf(id)));
        return;
    }
    if (expr.kind == ExprKind::BuiltinIndex && !staysValid(expr))
        refuseOnce("uses-thread-position",
                   fmt::format("{} asks for {}.{} other than for the position of its element",
                               lineOf(id), expr.name, "xyz"[std::min<std::uint8_t>(expr.axis, 2)]));
    if (expr.kind == ExprKind::Binary && expr.op == "+" && collectSplit(id, replacement, parts))
        return;
    for (const ExprId child : expr.children)
        collect(child, replacement, parts);
}

/// `row * width + blockIdx.x * blockDim.x + threadIdx.x`, whose position is no operand: one of its
/// terms becomes the position, the last goes.
bool CopyText::collectSplit(ExprId id, const Replacement& replacement,
                            std::vector<TextEdit>& parts) {
    const Expr& sum = body_.expr(id);
    const ExprId last = sum.children[1];
    const ExprId rest = sum.children[0];
    const IndexExpression* value = copy_.digits->value(id);
    const IndexExpression* taken = copy_.digits->value(last);
    const IndexExpression* left = copy_.digits->value(rest);
    if (value == nullptr || taken == nullptr || left == nullptr || taken->terms().size() != 1)
        return false;
    for (const auto& [monomial, factor] : value->terms()) {
        const PositionSlice* slice =
            monomial.size() == 1 && factor == 1 ? copy_.digits->slice(monomial.front()) : nullptr;
        if (slice == nullptr || !slice->isWhole() || !isTiled(slice->axis) ||
            left->dependsOn(monomial.front()) || taken->dependsOn(monomial.front()))
            continue;
        const IndexExpression position = IndexExpression::symbol(monomial.front());
        const IndexExpression other = *value - position;
        for (ExprId at = rest;;) {
            const Expr& expr = body_.expr(at);
            const bool isSum = expr.kind == ExprKind::Binary && expr.op == "+";
            const ExprId term = isSum ? expr.children[1] : at;
            const IndexExpression* held = copy_.digits->value(term);
            if (held != nullptr && *left - *held == other) {
                const Span gap{body_.expr(rest).span.end, body_.expr(last).span.begin};
                const std::string_view between = source_.slice(gap);
                const auto plus = between.rfind('+');
                if (plus == std::string_view::npos || sum.fromMacro ||
                    between.find_first_not_of(" \t\r\n", plus + 1) != std::string_view::npos)
                    return false;
                std::size_t begin = plus;
                while (begin > 0 && between[begin - 1] == ' ')
                    --begin;
                replace(term, bracketed(sliceText(*slice, sum.type)), parts);
                parts.push_back(
                    {{gap.begin + static_cast<std::uint32_t>(begin), body_.expr(last).span.end},
                     ""});
                for (ExprId side = rest; side != term;) {
                    const Expr& inner = body_.expr(side);
                    const bool isThere = inner.children[1] == term;
                    collect(inner.children[isThere ? 0 : 1], replacement, parts);
                    side = isThere ? term : inner.children[0];
                }
                return true;
            }
            if (!isSum)
                return false;
            at = expr.children[0];
        }
    }
    return false;
}

std::string CopyText::text(Span span, const std::vector<ExprId>& expressions,
                           const Replacement& replacement) {
    std::vector<TextEdit> parts;
    for (const ExprId expr : expressions)
        collect(expr, replacement, parts);
    return rewritten(source_, span, std::move(parts));
}

std::string CopyText::text(ExprId expr, const Replacement& replacement) {
    return text(body_.expr(expr).span, {expr}, replacement);
}

std::vector<std::string> CopyText::declarations(StmtId statement, const Replacement& replacement) {
    const Stmt& stmt = body_.stmt(statement);
    std::vector<std::string> lines;
    for (const VariableId id : stmt.declared) {
        const Variable& variable = body_.variable(id);
        if (isDigit(id) || !needed_.contains(id))
            continue;
        const IndexExpression* value =
            variable.init != noId ? copy_.digits->value(variable.init) : nullptr;
        const PositionSlice* slice = value ? copy_.digits->sliceIn(*value) : nullptr;
        if (slice != nullptr && isTiled(slice->axis) && !code_.isEverWritten(id))
            lines.push_back(fmt::format("const {} {} = {};", declared(variable.type), variable.name,
                                        sliceText(*slice, variable.type)));
        else if (stmt.declared.size() == 1)
            lines.push_back(
                text(stmt.span,
                     variable.init != noId ? std::vector{variable.init} : std::vector<ExprId>{},
                     replacement));
        else if (!variable.type.arrayExtents.empty() || variable.type.isReference)
            refuseOnce("declaration",
                       fmt::format("{} is declared together with other variables", variable.name));
        else if (variable.init != noId)
            lines.push_back(fmt::format("{} {} = {};", declared(variable.type), variable.name,
                                        text(variable.init, replacement)));
        else
            lines.push_back(fmt::format("{} {};", declared(variable.type), variable.name));
    }
    return lines;
}

std::string CopyText::conditionText(const CopyClause& clause) {
    const Expr& expr = body_.expr(clause.condition);
    const auto side = [&](std::size_t at) {
        const Expr& operand = body_.expr(expr.children[at]);
        const std::string written = text(expr.children[at]);
        const bool isOpen = besideComparison(source_, operand) != source_.slice(operand.span);
        return isOpen ? "(" + written + ")" : written;
    };
    const bool isLoose = expr.kind == ExprKind::Conditional ||
                         (expr.kind == ExprKind::Binary &&
                          (expr.op == "||" || expr.op == "&&" || isAssignment(expr.op)));
    if (!clause.isNegated)
        return isLoose ? "(" + text(clause.condition) + ")" : text(clause.condition);
    if (const std::string_view op = oppositeComparison(body_, expr); !op.empty() && !expr.fromMacro)
        return fmt::format("{} {} {}", side(0), op, side(1));
    if (expr.kind == ExprKind::Binary && (expr.op == "==" || expr.op == "!="))
        if (!expr.fromMacro)
            return fmt::format("{} {} {}", side(0), expr.op == "==" ? "!=" : "==", side(1));
    return expr.kind == ExprKind::Variable ? "!" + text(clause.condition)
                                           : fmt::format("!({})", text(clause.condition));
}

} // namespace kernelskill::skills
