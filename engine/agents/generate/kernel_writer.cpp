#include "engine/agents/generate/kernel_writer.h"

#include "analysis/syntax/lexer.h"
#include "engine/agents/generate/launcher_writer.h"
#include "engine/agents/generate/written_function.h"
#include "skills/rewriting/source_layout.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;
using skills::CodeLines;

namespace {

constexpr std::string_view axisNames = "xyz";

class KernelText {
public:
    KernelText(const FileModel& file, const KernelModel& function, const ParallelNest& nest)
        : source_(*file.source), function_(function), nest_(nest), body_(function.body),
          code_(function.body), layout_(source_, function) {}

    std::string write(const std::string& name) const {
        CodeLines lines(layout_, layout_.indentation(function_.span.begin));
        std::string threads;
        for (const MappedLoop& mapped : nest_.loops)
            threads += (threads.empty() ? "" : ", ") + nameOf(mapped);
        lines.add(fmt::format("// One thread for each {} of {}.",
                              nest_.loops.size() == 1 ? threads : "(" + threads + ")",
                              function_.name));
        std::string parameters;
        for (const Parameter& parameter : function_.parameters)
            parameters += (parameters.empty() ? "" : ", ") + parameterText(source_, parameter);
        lines.open(fmt::format("__global__ void {}({}) {{", name, parameters));
        addLeadingText(lines);
        std::string guard;
        for (const MappedLoop& mapped : nest_.loops) {
            lines.add(indexLine(mapped));
            guard += (guard.empty() ? "" : " || ") + outside(mapped);
        }
        lines.open(fmt::format("if ({})", guard)).add("return;").leave();
        addBody(lines);
        lines.close();
        return lines.text();
    }

private:
    [[nodiscard]] const Loop& loop(const MappedLoop& mapped) const {
        return function_.loops[mapped.loop];
    }
    [[nodiscard]] std::string nameOf(const MappedLoop& mapped) const {
        return body_.variable(loop(mapped).inductionVariable).name;
    }
    [[nodiscard]] std::string text(ExprId expr) const {
        return std::string(source_.slice(body_.expr(expr).span));
    }

    /// The same, fit to be added or compared.
    [[nodiscard]] std::string operand(ExprId expr) const {
        std::string code = text(expr);
        return code.find_first_of("<>&|^?%") == std::string::npos ? code : "(" + code + ")";
    }

    /// Declarations in front of the loops, and comments down to the innermost one.
    void addLeadingText(CodeLines& lines) const {
        const std::uint32_t loopBegin = body_.stmt(loop(nest_.loops.front()).statement).span.begin;
        if (nest_.declarations.empty()) {
            for (const std::string& comment :
                 skills::commentsIn(source_, {function_.bodySpan.begin + 1, loopBegin}))
                lines.add(comment);
        } else {
            addText(lines, {function_.bodySpan.begin + 1, loopBegin}, {});
        }
        for (std::size_t outer = 0; outer + 1 < nest_.loops.size(); ++outer) {
            const Span body = body_.stmt(loop(nest_.loops[outer]).body).span;
            const Span inner = body_.stmt(loop(nest_.loops[outer + 1]).statement).span;
            for (const std::string& comment :
                 skills::commentsIn(source_, {body.begin, inner.begin}))
                lines.add(comment);
        }
    }

    [[nodiscard]] std::string indexLine(const MappedLoop& mapped) const {
        const Variable& variable = body_.variable(loop(mapped).inductionVariable);
        const char axis = axisNames[static_cast<std::size_t>(mapped.axis)];
        const std::string& spelled =
            variable.type.spelling == "auto" ? variable.type.canonical : variable.type.spelling;
        std::string index = fmt::format("blockIdx.{0} * blockDim.{0} + threadIdx.{0}", axis);
        if (variable.type.size > 4)
            index = fmt::format("static_cast<{1}>(blockIdx.{0}) * blockDim.{0} + threadIdx.{0}",
                                axis, spelled);
        if (mapped.step != 1)
            index = fmt::format("{} * ({})", mapped.step, index);
        const std::string first = firstOf(mapped);
        if (!first.empty())
            index = fmt::format("{} {} {}", first, isDownward(mapped) ? "-" : "+", index);
        return fmt::format("{} {} = {};", spelled, variable.name, index);
    }

    /// By steps of more than one: threads then have the loop's values in its order. By one,
    /// upwards, however the loop runs.
    [[nodiscard]] bool isDownward(const MappedLoop& mapped) const {
        return *loop(mapped).step < -1;
    }

    /// The value of thread 0; empty where it is 0 and counted up from.
    [[nodiscard]] std::string firstOf(const MappedLoop& mapped) const {
        const Loop& counted = loop(mapped);
        if (isDownward(mapped))
            return operand(counted.lowerBound);
        const bool fromBound = *counted.step < 0;
        const bool isNext = fromBound && counted.comparison != ">=";
        const ExprId bound = fromBound ? counted.upperBound : counted.lowerBound;
        if (const auto value = code_.constantValue(bound)) {
            const std::int64_t first = *value + (isNext ? 1 : 0);
            const bool isWritten = body_.expr(bound).kind == ExprKind::Integer || isNext;
            return first == 0 ? "" : isWritten ? std::to_string(first) : operand(bound);
        }
        return operand(bound) + (isNext ? " + 1" : "");
    }

    [[nodiscard]] std::string outside(const MappedLoop& mapped) const {
        const Loop& counted = loop(mapped);
        if (*counted.step == -1)
            return fmt::format("{} > {}", nameOf(mapped), operand(counted.lowerBound));
        const bool isInclusive = counted.comparison.ends_with("=") && counted.comparison != "!=";
        return fmt::format("{} {} {}", nameOf(mapped),
                           isDownward(mapped) ? (isInclusive ? "<" : "<=")
                                              : (isInclusive ? ">" : ">="),
                           operand(counted.upperBound));
    }

    void addBody(CodeLines& lines) const {
        const Stmt& stmt = body_.stmt(nest_.body);
        Span span = stmt.span;
        if (stmt.kind == StmtKind::Compound)
            span = {span.begin + 1, span.end - 1};
        std::vector<TextEdit> parts = continuesAsReturns(nest_.body);
        for (const Expr& expr : body_.exprs)
            if (expr.kind == ExprKind::Call && span.contains(expr.span.begin) &&
                (source_.slice(expr.span).starts_with("std::max") ||
                 source_.slice(expr.span).starts_with("std::min")))
                parts.push_back({{expr.span.begin, expr.span.begin + 5}, ""});
        addText(lines, span, std::move(parts));
    }

    /// A thread has one iteration: to go on with the next one is to end.
    [[nodiscard]] std::vector<TextEdit> continuesAsReturns(StmtId id) const {
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

    /// The lines of `span`, blank ones at both ends and pragmas for the CPU's threads left out.
    void addText(CodeLines& lines, Span span, std::vector<TextEdit> parts) const {
        for (const Token& token : lex(source_.text(), span))
            if (token.kind == TokenKind::Directive && !token.text.contains("unroll"))
                parts.push_back({layout_.statementWithLine(token.span), ""});
        const auto blank = [&](std::uint32_t offset) {
            return std::string_view(" \t\r\n").contains(source_.text()[offset]);
        };
        while (span.begin < span.end && blank(span.begin))
            ++span.begin;
        while (span.begin < span.end && blank(span.end - 1))
            --span.end;
        // A pragma that goes with its line takes the blanks in front of it along.
        for (TextEdit& part : parts)
            part.span.begin = std::max(part.span.begin, span.begin);
        std::erase_if(parts, [&](const TextEdit& part) { return part.span.begin >= span.end; });
        if (span.begin < span.end)
            lines.addBlock(skills::rewritten(source_, span, std::move(parts)),
                           innerIndentation(span));
    }

    /// Of the lines of `span`: the least that one of them has.
    [[nodiscard]] std::string innerIndentation(Span span) const {
        std::optional<std::string> least;
        const std::uint32_t first = source_.lineColumn(span.begin).line;
        for (std::uint32_t line = first; line <= source_.lineColumn(span.end).line; ++line) {
            const Span whole = source_.lineSpan(line);
            const std::string_view text = source_.line(line);
            const bool isBlank = text.find_first_not_of(" \t\r") == std::string_view::npos;
            if (isBlank || (line == first && !layout_.startsLine(span.begin)))
                continue;
            std::string own = layout_.indentation(whole.begin);
            if (!least || own.size() < least->size())
                least = std::move(own);
        }
        return least.value_or("");
    }

    const SourceText& source_;
    const KernelModel& function_;
    const ParallelNest& nest_;
    const FunctionBody& body_;
    skills::CodeMap code_;
    skills::SourceLayout layout_;
};

} // namespace

std::array<int, 3> blockFor(std::size_t loops) {
    if (loops == 1)
        return {256, 1, 1};
    return loops == 2 ? std::array{32, 8, 1} : std::array{32, 4, 2};
}

WrittenKernel writeKernel(const FileModel& file, const KernelModel& function,
                          const ParallelNest& nest) {
    WrittenKernel written;
    written.kernelName = derivedName(*file.source, function.name, "kernel");
    written.launcherName = derivedName(*file.source, function.name, "gpu");
    written.kernel = KernelText(file, function, nest).write(written.kernelName);
    written.launcher = writeLauncher(file, function, nest, written);
    const std::array<int, 3> block = blockFor(nest.loops.size());
    std::array<std::string, 3> grid;
    for (const MappedLoop& mapped : nest.loops) {
        const auto axis = static_cast<std::size_t>(mapped.axis);
        const std::int64_t reach = mapped.step * block[axis];
        grid[axis] = fmt::format("({} + {}) / {}", codeOf(mapped.distance, function.body, false),
                                 reach - 1, reach);
    }
    for (std::size_t axis = 0; axis < nest.loops.size(); ++axis) {
        written.grid += (axis == 0 ? "" : ", ") + grid[axis];
        written.block += (axis == 0 ? "" : ", ") + std::to_string(block[axis]);
    }
    if (nest.loops.size() > 1) {
        written.grid = "dim3(" + written.grid + ")";
        written.block = "dim3(" + written.block + ")";
    }
    return written;
}

} // namespace kernelskill::engine
