#include "skills/memory-level-parallelism/batch_writer.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/source_layout.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/operand_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class Writer {
public:
    Writer(const SkillContext& context, const CodeMap& code, const BatchedLoop& batched)
        : code_(code), body_(code.body()), source_(*context.file.source),
          layout_(source_, context.kernel), batched_(batched),
          loop_(context.kernel.loops[batched.head.counted.loop]),
          stmt_(body_.stmt(loop_.statement)) {
        for (const BatchedLoad& load : batched_.loads)
            names_.push_back(valueName(load));
    }

    [[nodiscard]] std::vector<TextEdit> edits() const {
        if (batched_.search)
            return searchEdits(*batched_.search);
        if (batched_.isGrouped)
            return groupEdits();
        const Stmt& body = body_.stmt(loop_.body);
        const bool isBlock = body.kind == StmtKind::Compound;
        const std::string indentation = layout_.indentation(stmt_.span.begin);
        std::vector<TextEdit> edits;
        std::string head = headText(indentation);
        if (isBlock)
            head.resize(head.size() - layout_.newline().size());
        else
            head += layout_.indentation(body.span.begin) + layout_.unit() + layout_.unit();
        edits.push_back(
            {{headBegin(), isBlock ? body.span.begin + 1 : body.span.begin}, std::move(head)});
        const Span inner =
            isBlock ? Span{body.span.begin + 1, layout_.lineBegin(body.span.end - 1)} : body.span;
        for (int level = 0; level < 2; ++level) {
            for (const TextEdit& indented : layout_.indented(inner))
                if (!removed().contains(indented.span))
                    edits.push_back(indented);
        }
        std::ranges::copy(valuesForLoads(), std::back_inserter(edits));
        addExits(edits);
        const std::string closing = indentation + layout_.unit() + layout_.unit() + "}";
        if (isBlock) {
            const std::uint32_t at = layout_.lineBegin(body.span.end - 1);
            edits.push_back({{at, at}, closing + layout_.newline()});
        } else {
            const std::uint32_t at = layout_.endOfLineTrivia(stmt_.span.end);
            edits.push_back(
                {{at, at}, layout_.newline() + closing + layout_.newline() + indentation + "}"});
        }
        return edits;
    }

private:
    /// A loop in front of the search that tests several rounds at once and skips groups without a
    /// hit. The search itself stays, and begins at the first group with one.
    [[nodiscard]] std::vector<TextEdit> searchEdits(const SearchCondition& search) const {
        const std::string found = freshName(body_, "found");
        const std::string indentation = layout_.indentation(stmt_.span.begin);
        CodeLines lines(layout_, indentation);
        lines.add(fmt::format("{} {} = {};", wideType(), first_, start()));
        lines.add(fmt::format("// The loads of {} rounds are under way before the first is tested.",
                              batched_.rounds));
        lines.open(fmt::format("for (; {0} + {1} < {2}; {0} += {3}) {{", first_,
                               stepOf(batched_.rounds - 1), limit(), stepOf(batched_.rounds)));
        lines.add(fmt::format("bool {} = false;", found));
        openGroup(lines);
        for (const StmtId local : search.locals) {
            const Span span = body_.stmt(local).span;
            lines.addBlock(source_.slice(span), layout_.indentation(span.begin));
        }
        const std::string_view test = source_.slice(search.condition);
        lines.addBlock(search.goesOn   ? fmt::format("{} |= !({});", found, test)
                       : search.isBool ? fmt::format("{} |= {};", found, test)
                                       : fmt::format("{} |= ({}) != 0;", found, test),
                       layout_.indentation(search.condition.begin));
        lines.close();
        lines.open(fmt::format("if ({})", found)).add("break;").leave();
        lines.close();
        return withLoopBehind(std::move(lines), indentation);
    }

    /// Groups of rounds, all of whose rounds are made, in front of the loop. The loop itself stays,
    /// and makes the rounds that are left: a load that no condition guards needs no branch.
    [[nodiscard]] std::vector<TextEdit> groupEdits() const {
        const std::string indentation = layout_.indentation(stmt_.span.begin);
        CodeLines lines(layout_, indentation);
        if (!literalStep())
            lines.add(fmt::format("const {} {} = {};", wideType(), step_,
                                  text(batched_.head.counted.step)));
        lines.add(fmt::format("{} {} = {};", wideType(), first_, start()));
        lines.add(fmt::format("// The loads of {} rounds are under way before the first is used.",
                              batched_.rounds));
        lines.open(fmt::format("for (; {0} + {1} < {2}; {0} += {3}) {{", first_,
                               stepTimes(batched_.rounds - 1), limit(),
                               stepTimes(batched_.rounds)));
        declareArrays(lines);
        openGroup(lines);
        addLoads(lines);
        lines.close();
        openGroup(lines, usesIndexElsewhere());
        const Span round = roundSpan();
        std::string text = rewritten(source_, round, valuesForLoads());
        text.erase(text.find_last_not_of("\r\n") + 1);
        lines.addBlock(text, layout_.indentation(round.begin));
        lines.close().close();
        return withLoopBehind(std::move(lines), indentation);
    }

    /// A round's statements with their comments: the lines between the brackets, if it has any.
    [[nodiscard]] Span roundSpan() const {
        const Stmt& body = body_.stmt(loop_.body);
        if (body.kind != StmtKind::Compound)
            return {body.span.begin, layout_.endOfLineTrivia(body.span.end)};
        const std::uint32_t line = layout_.lineAfter(body.span.begin);
        return {line + static_cast<std::uint32_t>(layout_.indentation(line).size()),
                layout_.lineBegin(body.span.end - 1)};
    }

    /// Whether a round asks for the index other than to load what is loaded ahead.
    [[nodiscard]] bool usesIndexElsewhere() const {
        const auto isLoaded = [&](Span use) {
            return std::ranges::any_of(batched_.loads, [&](const BatchedLoad& load) {
                return body_.expr(load.element).span.contains(use) ||
                       std::ranges::any_of(load.again, [&](ExprId again) {
                           return body_.expr(again).span.contains(use);
                       });
            });
        };
        return std::ranges::any_of(code_.uses(batched_.head.index), [&](ExprId use) {
            const Span span = body_.expr(use).span;
            return body_.stmt(loop_.body).span.contains(span) && !isLoaded(span) &&
                   !removed().contains(span);
        });
    }

    /// `lines` in front of the loop, which begins where they end.
    [[nodiscard]] std::vector<TextEdit> withLoopBehind(CodeLines lines,
                                                       const std::string& indentation) const {
        const Variable& index = body_.variable(batched_.head.index);
        const std::string reached =
            wideType() == indexType(index)
                ? first_
                : fmt::format("static_cast<{}>({})", indexType(index), first_);
        if (batched_.head.counted.start == noId)
            lines.add(fmt::format("{} = {};", index.name, reached));
        std::vector<TextEdit> edits{
            {{headBegin(), headBegin()}, lines.text().substr(indentation.size()) + indentation}};
        if (batched_.head.counted.start != noId)
            edits.push_back({body_.expr(batched_.head.counted.start).span, reached});
        return edits;
    }

    /// The sum that `rounds` rounds add to the index, whose step is a number.
    [[nodiscard]] std::int64_t stepOf(int rounds) const {
        return literalStep().value_or(1) * rounds;
    }

    /// Ends both loops where the text ends the one that it had.
    void addExits(std::vector<TextEdit>& edits) const {
        for (const StmtId id : batched_.breaks) {
            const Stmt& exit = body_.stmt(id);
            const bool isInBlock = body_.stmt(exit.parent).kind == StmtKind::Compound;
            const std::uint32_t begin = exit.span.begin;
            if (isInBlock && layout_.startsLine(begin)) {
                // Indented twice, as is the line of the exit.
                edits.push_back(
                    {{begin, begin},
                     fmt::format("{} = false;{}{}{}{}", goesOn_, layout_.newline(),
                                 layout_.indentation(begin), layout_.unit(), layout_.unit())});
            } else {
                edits.push_back({exit.span, fmt::format("{{ {} = false; break; }}", goesOn_)});
            }
        }
    }

    /// The loaded values in place of the loads; takes out the step of a while loop.
    [[nodiscard]] std::vector<TextEdit> valuesForLoads() const {
        std::vector<TextEdit> edits;
        for (std::size_t i = 0; i < names_.size(); ++i) {
            const std::string value = fmt::format("{}[{}]", names_[i], ahead_);
            edits.push_back({body_.expr(batched_.loads[i].element).span, value});
            for (const ExprId again : batched_.loads[i].again)
                edits.push_back({body_.expr(again).span, value});
        }
        if (batched_.head.advance != noId)
            edits.push_back({removed(), ""});
        return edits;
    }

    /// The step of a while loop, with its line.
    [[nodiscard]] Span removed() const {
        return batched_.head.advance == noId
                   ? Span{}
                   : layout_.statementWithLine(body_.stmt(batched_.head.advance).span);
    }

    /// Everything up to the bracket behind which the rounds' own statements stand.
    std::string headText(const std::string& indentation) const {
        CodeLines lines(layout_, indentation);
        if (!literalStep())
            lines.add(fmt::format("const {} {} = {};", wideType(), step_,
                                  text(batched_.head.counted.step)));
        lines.add(fmt::format("// The loads of {} rounds are under way before the first is used.",
                              batched_.rounds));
        if (!batched_.breaks.empty())
            lines.add(fmt::format("bool {} = true;", goesOn_));
        lines.open(fmt::format("for ({} {} = {}; {}{} < {}; {} += {}) {{", wideType(), first_,
                               start(), batched_.breaks.empty() ? "" : goesOn_ + " && ", first_,
                               limit(), first_, stepTimes(batched_.rounds)));
        declareArrays(lines);
        openRounds(lines);
        addLoads(lines);
        lines.close().leave();
        openRounds(lines);
        std::string result = lines.text();
        return result.erase(0, indentation.size());
    }

    void declareArrays(CodeLines& lines) const {
        for (std::size_t i = 0; i < names_.size(); ++i)
            lines.add(
                fmt::format("{} {}[{}];", batched_.loads[i].type, names_[i], batched_.rounds));
    }

    void addLoads(CodeLines& lines) const {
        for (const StmtId local : batched_.locals) {
            const Span span = body_.stmt(local).span;
            lines.addBlock(source_.slice(span), layout_.indentation(span.begin));
        }
        for (std::size_t i = 0; i < names_.size(); ++i)
            lines.add(
                fmt::format("{}[{}] = {};", names_[i], ahead_, text(batched_.loads[i].element)));
    }

    void openGroup(CodeLines& lines, bool usesIndex = true) const {
        const Variable& index = body_.variable(batched_.head.index);
        lines.add("#pragma unroll");
        lines.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", ahead_, batched_.rounds));
        if (usesIndex)
            lines.add(fmt::format("const {} {} = {} + {};", indexType(index), index.name, first_,
                                  stepTimesAhead()));
    }

    void openRounds(CodeLines& lines) const {
        const Variable& index = body_.variable(batched_.head.index);
        const std::string place = fmt::format("{} + {}", first_, stepTimesAhead());
        lines.add("#pragma unroll");
        lines.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", ahead_, batched_.rounds));
        lines.open(fmt::format("if ({} < {}) {{", place, limit()));
        lines.add(fmt::format("const {} {} = {};", indexType(index), index.name, place));
    }

    /// Returns where the loop begins, its pragma included.
    [[nodiscard]] std::uint32_t headBegin() const {
        if (stmt_.pragma.empty())
            return stmt_.span.begin;
        const std::uint32_t line = layout_.lineBegin(stmt_.pragmaSpan.begin);
        return line + static_cast<std::uint32_t>(layout_.indentation(line).size());
    }

    [[nodiscard]] std::string start() const {
        const ExprId start = batched_.head.counted.start;
        return start == noId ? body_.variable(batched_.head.index).name : text(start);
    }

    [[nodiscard]] std::string valueName(const BatchedLoad& load) const {
        const std::string base = body_.variable(load.base).name;
        const std::string wanted = base.contains('_') ? base + "_ahead" : base + "Ahead";
        std::string name = freshName(body_, wanted);
        for (int number = 2; std::ranges::find(names_, name) != names_.end(); ++number)
            name = freshName(body_, fmt::format("{}{}", wanted, number));
        return name;
    }

    static std::string indexType(const Variable& index) {
        std::string type =
            index.type.spelling.contains("auto") ? index.type.canonical : index.type.spelling;
        if (type.starts_with("const "))
            type.erase(0, 6);
        return type;
    }

    /// 64 bits, so that an index some rounds ahead cannot wrap around.
    [[nodiscard]] std::string wideType() const {
        const Variable& index = body_.variable(batched_.head.index);
        const bool isWide =
            index.type.scalar == ScalarKind::Int64 || index.type.scalar == ScalarKind::UInt64;
        return isWide ? indexType(index) : "long long";
    }

    [[nodiscard]] std::optional<std::int64_t> literalStep() const {
        if (batched_.head.counted.step == noId)
            return 1;
        const Expr& step = body_.expr(batched_.head.counted.step);
        return step.kind == ExprKind::Integer && !step.fromMacro ? std::optional(step.integer)
                                                                 : std::nullopt;
    }

    [[nodiscard]] std::string stepTimes(int count) const {
        if (const auto step = literalStep())
            return std::to_string(*step * count);
        return fmt::format("{} * {}", count, step_);
    }

    [[nodiscard]] std::string stepTimesAhead() const {
        const auto step = literalStep();
        if (!step)
            return fmt::format("{} * {}", ahead_, step_);
        return *step == 1 ? ahead_ : fmt::format("{} * {}", ahead_, *step);
    }

    [[nodiscard]] std::string limit() const {
        return besideComparison(source_, body_.expr(batched_.head.counted.limit));
    }

    [[nodiscard]] std::string text(ExprId expr) const {
        return std::string(source_.slice(body_.expr(expr).span));
    }

    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    const BatchedLoop& batched_;
    const Loop& loop_;
    const Stmt& stmt_;
    std::string first_ = freshName(body_, "first");
    std::string step_ = freshName(body_, "step");
    std::string ahead_ = freshName(body_, "ahead");
    std::string goesOn_ = freshName(body_, "goesOn");
    std::vector<std::string> names_; ///< The names of the arrays that hold the loaded values.
};

} // namespace

std::vector<TextEdit> batchedEdits(const SkillContext& function, const BatchedLoop& batched) {
    return Writer(function, function.code(), batched).edits();
}

} // namespace kernelskill::skills
