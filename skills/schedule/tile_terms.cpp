#include "skills/schedule/tile_terms.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class TermLoopWriter {
public:
    TermLoopWriter(CodeLines& lines, const SkillContext& context, const Contraction& found,
                   const TileShape& shape, const TileText& text,
                   const std::vector<GuardClause>& guard)
        : lines_(lines), context_(context), found_(found), shape_(shape), text_(text),
          guard_(guard), code_(context.code()), body_(code_.body()), source_(*context.file.source),
          layout_(source_, context.kernel) {}

    void addLoop(StmtId id) {
        const auto at = std::ranges::find(found_.loops, id, &TermLoop::statement);
        const std::size_t number = static_cast<std::size_t>(at - found_.loops.begin());
        const Loop& loop = context_.kernel.loops[at->loop];
        const TermNames& names = text_.names().loops[number];
        const std::string limit = text_.boundText(loop.upperBound);
        const std::string comparison = loop.comparison == "<=" ? "<=" : "<";
        for (const std::string& comment :
             commentsIn(source_, {body_.stmt(id).span.begin, body_.stmt(loop.body).span.begin}))
            lines_.add(comment);
        lines_.open(fmt::format("for ({0} {1} = {2}; {1} {3} {4}; {1} += {5}) {{", names.type,
                                names.begin, source_.slice(body_.expr(loop.lowerBound).span),
                                comparison, limit, shape_.terms));
        const bool isWhole = loop.tripCount && *loop.tripCount % shape_.terms == 0;
        for (std::size_t operand = 0; operand < at->operands.size(); ++operand)
            addStaging(number, operand,
                       isWhole ? "" : fmt::format("{} {} {}", names.term, comparison, limit));
        lines_.add("__syncthreads();");
        const bool isInt =
            names.type == "int" && body_.expr(loop.upperBound).type.scalar == ScalarKind::Int32;
        const std::string_view more = comparison == "<=" ? " + 1" : "";
        if (!isWhole && isInt)
            lines_.add(fmt::format("const int {} = {} + min({} - {}{}, {});", names.end,
                                   names.begin, limit, names.begin, more, shape_.terms));
        else if (!isWhole)
            lines_.add(fmt::format("const {0} {1} = {2} - {3} < {4} ? {2}{5} : {3} + {4};",
                                   names.type, names.end, limit, names.begin, shape_.terms, more));
        const std::string end =
            isWhole ? fmt::format("{} + {}", names.begin, shape_.terms) : names.end;
        const bool isLine = shape_.outputs() == 1 && isOneLine(loop);
        lines_.add(fmt::format("#pragma unroll {}", shape_.terms));
        lines_.open(fmt::format("for ({0} {1} = {2}; {1} < {3}; ++{1}){4}", names.type, names.term,
                                names.begin, end, isLine ? "" : " {"));
        addTerm(number, loop);
        if (isLine)
            lines_.leave();
        else
            lines_.close();
        lines_.add("__syncthreads();");
        lines_.close();
    }

private:
    /// Neighbouring threads load what is side by side in memory.
    void addStaging(std::size_t loop, std::size_t number, const std::string& termGuard) {
        const TileOperand& operand = found_.loops[loop].operands[number];
        const TermNames& names = text_.names().loops[loop];
        OutputLoops loops(lines_, text_);
        const std::int64_t extent = tileExtent(found_, operand, shape_);
        const std::int64_t elements = extent * shape_.terms;
        const std::int64_t threads = found_.axes.threads();
        std::string element = text_.names().element;
        if (elements == threads) {
            lines_.open("{");
            element = text_.names().thread;
        } else if (elements % threads == 0) {
            lines_.add("#pragma unroll");
            lines_.open(fmt::format("for (int {0} = 0; {0} < {1}; {0} += {2}) {{",
                                    text_.names().offset, elements, threads));
            lines_.add(fmt::format("const int {} = {} + {};", element, text_.names().thread,
                                   text_.names().offset));
        } else {
            lines_.open(fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3}) {{", element,
                                    text_.names().thread, elements, threads));
        }
        const std::string place = operand.walksTerms ? fmt::format("{} / {}", element, shape_.terms)
                                                     : fmt::format("{} % {}", element, extent);
        const std::string term = operand.walksTerms ? fmt::format("{} % {}", element, shape_.terms)
                                                    : fmt::format("{} / {}", element, extent);
        std::vector<ExprId> used = clausesOn(guard_, operand.axis);
        used.push_back(operand.uses.front());
        const std::vector<VariableId> derived = text_.derivedIn(text_.stagedFrom(used));
        const AxisNames& axis = text_.axisNames(operand.axis);
        lines_.add(
            fmt::format("const {} {} = {} + {};", axis.type, axis.position, axis.begin, place));
        lines_.add(
            fmt::format("const {} {} = {} + {};", names.type, names.term, names.begin, term));
        loops.addDerived(derived, false);
        std::vector<std::string> guard = text_.guardTexts(guard_, operand.axis);
        if (!termGuard.empty())
            guard.push_back(termGuard);
        const std::string condition = fmt::format("{}", fmt::join(guard, " && "));
        const std::string_view value = source_.slice(body_.expr(operand.uses.front()).span);
        const std::string target =
            fmt::format("{}[{}][{}]", names.operands[number].tile, term, place);
        const bool isNumber = text_.isArithmetic(body_.expr(operand.uses.front()).type);
        const std::string zero = isNumber ? "0" : operand.type + "{}";
        if (std::ranges::any_of(derived, [&](VariableId id) { return text_.readsMemory(id); })) {
            lines_.add(fmt::format("{} {} = {};", operand.type, text_.names().value, zero));
            lines_.open(guard.empty() ? "{" : fmt::format("if ({}) {{", condition));
            loops.addDerived(derived, true);
            lines_.add(fmt::format("{} = {};", text_.names().value, value));
            lines_.close();
            lines_.add(fmt::format("{} = {};", target, text_.names().value));
        } else if (guard.empty()) {
            lines_.add(fmt::format("{} = {};", target, value));
        } else {
            lines_.add(fmt::format("{} = {} ? {} : {};", target, condition, value, zero));
        }
        lines_.close();
    }
    [[nodiscard]] bool isOneLine(const Loop& loop) const {
        const std::vector<StmtId> statements = code_.statementsOf(loop.body);
        return statements.size() == 1 && commentsIn(source_, body_.stmt(loop.body).span).empty() &&
               !source_.slice(body_.stmt(statements[0]).span).contains('\n');
    }

    void addTerm(std::size_t number, const Loop& loop) {
        const TermLoop& term = found_.loops[number];
        const TermNames& names = text_.names().loops[number];
        for (std::size_t at = 0; at < term.operands.size(); ++at) {
            const TileOperand& operand = term.operands[at];
            const int outputs = text_.outputsAlong(operand.axis);
            if (outputs == 1)
                continue;
            const std::string& step = text_.axisNames(operand.axis).step;
            lines_.add(fmt::format("{} {}[{}];", operand.type, names.operands[at].values, outputs));
            lines_.add("#pragma unroll");
            lines_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", step, outputs));
            lines_.add(fmt::format("{}[{}] = {}[{} - {}][{}];", names.operands[at].values, step,
                                   names.operands[at].tile, names.term, names.begin,
                                   text_.placeAlong(operand.axis)));
            lines_.leave();
        }
        const std::vector<StmtId> statements = code_.statementsOf(loop.body);
        std::vector<ExprId> roots;
        for (const StmtId statement : statements)
            for (const ExprId id : code_.expressionsIn(statement))
                if (!text_.isWithinOperand(term, id))
                    roots.push_back(id);
        std::set<VariableId> needed = text_.usedBy(roots);
        std::erase_if(needed, [&](VariableId id) { return (text_.dependsOn(id) & termAxis) != 0; });
        const bool isLine = isOneLine(loop) && text_.derivedIn(needed).empty();
        OutputLoops outputs(lines_, text_);
        outputs.open(needed, isLine);
        outputs.addDerived(text_.derivedIn(needed), false);
        std::uint32_t done = body_.stmt(loop.body).span.begin;
        for (const StmtId statement : statements) {
            const Span span = body_.stmt(statement).span;
            for (const std::string& comment :
                 commentsIn(source_, {done, std::max(done, span.begin)}))
                lines_.add(comment);
            done = span.end;
            if (body_.stmt(statement).kind != StmtKind::Null)
                lines_.addBlock(text_.textWith(span), layout_.indentation(span.begin));
        }
        for (const std::string& comment :
             commentsIn(source_, {done, std::max(done, body_.stmt(loop.body).span.end)}))
            lines_.add(comment);
        outputs.close();
    }
    CodeLines& lines_;
    const SkillContext& context_;
    const Contraction& found_;
    const TileShape& shape_;
    const TileText& text_;
    const std::vector<GuardClause>& guard_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
};

} // namespace

void OutputLoops::open(const std::set<VariableId>& needed, bool isLine) {
    std::vector<AxisSet> axes{slowAxis, fastAxis};
    std::erase_if(axes, [&](AxisSet axis) { return text_.outputsAlong(axis) == 1; });
    for (const AxisSet axis : axes) {
        const AxisNames& names = text_.axisNames(axis);
        const bool isNeeded = needed.contains(text_.outputAxis(axis).variable);
        const bool isBlock = !isLine || isNeeded || axis != axes.back();
        lines_.add("#pragma unroll");
        lines_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}){2}", names.step,
                                text_.outputsAlong(axis), isBlock ? " {" : ""));
        isBlock_.push_back(isBlock);
        if (isNeeded)
            lines_.add(fmt::format("const {} {} = {} + {};", names.type, names.position,
                                   names.begin, text_.placeAlong(axis)));
    }
}

void OutputLoops::close() {
    for (; !isBlock_.empty(); isBlock_.pop_back()) {
        if (isBlock_.back())
            lines_.close();
        else
            lines_.leave();
    }
}

void OutputLoops::addDerived(const std::vector<VariableId>& derived, bool ofMemory) {
    for (const VariableId id : derived)
        if (text_.readsMemory(id) == ofMemory)
            lines_.add(text_.definition(id));
}

std::vector<ExprId> clausesOn(const std::vector<GuardClause>& guard, AxisSet allowed) {
    std::vector<ExprId> found;
    for (const GuardClause& clause : guard)
        if ((clause.axes & ~allowed) == 0)
            found.push_back(clause.condition);
    return found;
}

void addTermLoop(CodeLines& lines, const SkillContext& context, const Contraction& found,
                 const TileShape& shape, const TileText& text,
                 const std::vector<GuardClause>& guard, StmtId loop) {
    TermLoopWriter(lines, context, found, shape, text, guard).addLoop(loop);
}

} // namespace kernelskill::skills
