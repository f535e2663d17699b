#include "engine/generate/nest_text.h"

#include "engine/generate/written_function.h"
#include "skills/editing/code_lines.h"

#include <spdlog/fmt/fmt.h>

#include <iterator>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;
using skills::CodeLines;

namespace {

/// The maximum length of a loop's header on one line.
constexpr std::size_t maxHeaderLength = 92;

} // namespace

NestText::NestText(const FileModel& file, const KernelModel& function,
                   const ParallelFunction& parallel, const ParallelNest& nest)
    : source_(*file.source), function_(function), parallel_(parallel), nest_(nest),
      body_(function.body), code_(function.body), layout_(source_, function),
      copied_(source_, function, layout_), inputs_(inputsOf(function, code_, parallel, nest)) {}

const Loop& NestText::loop(const MappedLoop& mapped) const {
    return function_.loops[mapped.loop];
}

std::string NestText::nameOf(const MappedLoop& mapped) const {
    return body_.variable(loop(mapped).inductionVariable).name;
}

std::string NestText::typeOf(const MappedLoop& mapped) const {
    const Type& type = body_.variable(loop(mapped).inductionVariable).type;
    return type.spelling == "auto" ? type.canonical : type.spelling;
}

/// The expression's text, in a form that can be added or compared.
std::string NestText::operand(ExprId expr) const {
    std::string code(source_.slice(body_.expr(expr).span));
    return code.find_first_of("<>&|^?%") == std::string::npos ? code : "(" + code + ")";
}

std::string NestText::parameters() const {
    std::string text;
    for (const VariableId variable : inputs_.variables)
        text += (text.empty() ? "" : ", ") + inputText(source_, function_, variable);
    return text;
}

void NestText::addLeadingText(CodeLines& lines) const {
    const std::uint32_t loopBegin = body_.stmt(nest_.statement).span.begin;
    if (!parallel_.isOneKernel) {
        copied_.addComments(lines, copied_.gapBefore(nest_.statement));
        for (const StmtId declaration : inputs_.declarations)
            copied_.add(
                lines, {body_.stmt(declaration).span.begin, copied_.withComments(declaration).end});
    } else if (inputs_.declarations.empty()) {
        copied_.addComments(lines, {function_.bodySpan.begin + 1, loopBegin});
    } else {
        copied_.add(lines, {function_.bodySpan.begin + 1, loopBegin});
    }
    for (std::size_t outer = 0; outer + 1 < nest_.loops.size(); ++outer)
        copied_.addComments(lines, {body_.stmt(loop(nest_.loops[outer]).body).span.begin,
                                    body_.stmt(loop(nest_.loops[outer + 1]).statement).span.begin});
}

/// Whether threads take the loop's values downwards: only if it counts down by more than one. A
/// loop with step -1 is taken upwards.
bool NestText::isDownward(const MappedLoop& mapped) const {
    return *loop(mapped).step < -1;
}

/// The value in iteration 0; empty if it is 0 and the loop counts upwards.
std::string NestText::firstOf(const MappedLoop& mapped) const {
    const Loop& counted = loop(mapped);
    if (isDownward(mapped))
        return operand(counted.lowerBound);
    const bool isFromBound = *counted.step < 0;
    const bool isNext = isFromBound && counted.comparison != ">=";
    const ExprId bound = isFromBound ? counted.upperBound : counted.lowerBound;
    const auto value = code_.constantValue(bound);
    if (value && (isNext || *value == 0 || body_.expr(bound).kind == ExprKind::Integer)) {
        const std::int64_t first = *value + (isNext ? 1 : 0);
        return first == 0 ? "" : std::to_string(first);
    }
    return operand(bound) + (isNext ? " + 1" : "");
}

std::string NestText::indexLine(const MappedLoop& mapped) const {
    const Variable& variable = body_.variable(loop(mapped).inductionVariable);
    const char axis = axisNames[static_cast<std::size_t>(mapped.axis)];
    std::string index = fmt::format("blockIdx.{0} * blockDim.{0} + threadIdx.{0}", axis);
    if (variable.type.size > 4)
        index = fmt::format("static_cast<{1}>(blockIdx.{0}) * blockDim.{0} + threadIdx.{0}", axis,
                            typeOf(mapped));
    if (mapped.step != 1)
        index = fmt::format("{} * ({})", mapped.step, index);
    const std::string first = firstOf(mapped);
    if (!first.empty())
        index = fmt::format("{} {} {}", first, isDownward(mapped) ? "-" : "+", index);
    return fmt::format("{} {} = {};", typeOf(mapped), variable.name, index);
}

std::string NestText::compared(const MappedLoop& mapped, const std::string& variable,
                               bool isInside) const {
    const Loop& counted = loop(mapped);
    if (*counted.step == -1)
        return fmt::format("{} {} {}", variable, isInside ? "<=" : ">",
                           operand(counted.lowerBound));
    const bool isInclusive = counted.comparison == "<=" || counted.comparison == ">=";
    std::string_view op;
    if (isDownward(mapped) == isInside)
        op = isInclusive == isInside ? ">=" : ">";
    else
        op = isInclusive == isInside ? "<=" : "<";
    return fmt::format("{} {} {}", variable, op, operand(counted.upperBound));
}

std::string NestText::outside(const MappedLoop& mapped) const {
    return compared(mapped, nameOf(mapped), false);
}

void NestText::openStrided(CodeLines& lines, const MappedLoop& mapped, const std::string& number,
                           const std::string& count) const {
    const std::string name = nameOf(mapped);
    const bool isWide = body_.variable(loop(mapped).inductionVariable).type.size > 4;
    const std::string type = isWide ? typeOf(mapped) : "long long";
    const std::string counter = isWide ? name : analysis::freshName(body_, "wide_" + name);
    const bool isSum = number.contains(' ');
    if (!isWide)
        lines.add(fmt::format("// {}: a stride beyond the last {} may be beyond its type.", counter,
                              name));
    std::string start = isWide && isSum ? fmt::format("static_cast<{}>({})", type, number) : number;
    std::string stride = count;
    if (mapped.step != 1) {
        start = fmt::format("{}{} * {}", mapped.step, isWide ? "" : "LL",
                            isSum && !isWide ? "(" + start + ")" : start);
        stride = fmt::format("{}{} * {}", mapped.step, isWide ? "" : "LL", stride);
    }
    if (std::string first = firstOf(mapped); !first.empty()) {
        const bool isLiteral = first.find_first_not_of("0123456789") == std::string::npos;
        if (!isWide && !isLiteral)
            first = fmt::format("static_cast<long long>({})", first);
        start = fmt::format("{} {} {}", first, isDownward(mapped) ? "-" : "+", start);
    }
    const std::string begin = fmt::format("for ({} {} = {};", type, counter, start);
    const std::string rest = fmt::format("{}; {} {} {}) {{", compared(mapped, counter, true),
                                         counter, isDownward(mapped) ? "-=" : "+=", stride);
    if (begin.size() + rest.size() < maxHeaderLength)
        lines.open(begin + " " + rest);
    else
        lines.add(begin).open("     " + rest);
    if (!isWide)
        lines.add(fmt::format("{0} {1} = static_cast<{0}>({2});", typeOf(mapped), name, counter));
}

void NestText::addBody(CodeLines& lines, bool isOneRound) const {
    const Stmt& stmt = body_.stmt(nest_.body);
    Span span = stmt.span;
    if (stmt.kind == StmtKind::Compound)
        span = {span.begin + 1, span.end - 1};
    std::vector<TextEdit> parts;
    if (isOneRound)
        parts = continuesAsReturns(nest_.body);
    for (const Expr& expr : body_.exprs)
        if (expr.kind == ExprKind::Call && span.contains(expr.span.begin) &&
            (source_.slice(expr.span).starts_with("std::max") ||
             source_.slice(expr.span).starts_with("std::min")))
            parts.push_back({{expr.span.begin, expr.span.begin + 5}, ""});
    copied_.add(lines, span, std::move(parts));
}

std::vector<TextEdit> NestText::continuesAsReturns(StmtId id) const {
    const Stmt& stmt = body_.stmt(id);
    if (stmt.kind == StmtKind::Continue)
        return {{stmt.span, "return;"}};
    const bool isLoop =
        stmt.kind == StmtKind::For || stmt.kind == StmtKind::While || stmt.kind == StmtKind::Do;
    std::vector<TextEdit> edits;
    if (!isLoop)
        for (const StmtId child : stmt.children)
            std::ranges::move(continuesAsReturns(child), std::back_inserter(edits));
    return edits;
}

} // namespace kernelskill::engine
