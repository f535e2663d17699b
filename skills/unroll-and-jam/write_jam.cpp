#include "analysis/queries/source_layout.h"
#include "skills/editing/fresh_names.h"
#include "skills/editing/operand_text.h"
#include "skills/unroll-and-jam/jam_plan.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class JamWriter {
public:
    JamWriter(Draft& draft, const SkillContext& context, const JamPlan& plan, int count)
        : draft_(draft), context_(context), plan_(plan), body_(context.kernel.body),
          source_(*context.file.source), loop_(context.kernel.loops.at(plan.outer.counted.loop)),
          index_(body_.variable(plan.outer.index)), count_(count), names_(body_),
          part_(names_.add("part")), first_(names_.add("first")) {}

    void write() {
        const bool isWhole =
            plan_.outer.declaresIndex && plan_.rounds && *plan_.rounds % count_ == 0;
        writeHead(isWhole);
        writeArrays();
        PartRunWriter runs(draft_, context_, plan_.work,
                           {.type = "int", .name = part_, .count = count_});
        nameLoads(runs);
        runs.write([&](std::size_t run, CodeLines& lines) {
            if (runs.uses(run, plan_.indexUses))
                lines.add(
                    fmt::format("const {} {} = {} + {};", type(), index_.name, first_, part_));
        });
        if (!isWhole)
            writeRest();
    }

private:
    /// The index's type as it is declared, without const.
    [[nodiscard]] std::string type() const { return keptType(index_); }
    [[nodiscard]] std::string textOf(ExprId id) const {
        return std::string(source_.slice(body_.expr(id).span));
    }

    /// Counts the first rounds of groups. Where rounds may be left, the counter outlives the loop.
    void writeHead(bool isWhole) {
        const Stmt& stmt = body_.stmt(loop_.statement);
        const std::string declared =
            fmt::format("{} {} = {}", type(), first_, textOf(plan_.outer.counted.start));
        if (!isWhole)
            draft_.before(loop_.statement, {declared + ";"});
        const std::string limit = besideComparison(source_, body_.expr(plan_.outer.counted.limit));
        draft_.replace({body_.stmt(stmt.init).span.begin, body_.expr(stmt.condition).span.end},
                       isWhole ? fmt::format("{}; {} < {}", declared, first_, limit)
                               : fmt::format("; {} + {} < {}", first_, count_ - 1, limit));
        draft_.replace(body_.expr(stmt.increment).span, fmt::format("{} += {}", first_, count_));
    }

    /// Declares arrays for variables that outlive a round and are set anew in each.
    void writeArrays() {
        const StmtId begin = context_.code().statementsOf(loop_.body).front();
        for (const VariableId id : plan_.work.locals.own)
            insertLine(begin, fmt::format("{} {}[{}];", keptType(body_.variable(id)),
                                          body_.variable(id).name, count_));
    }
    /// Inserts a line ahead of a run, where it is not indented with the run.
    void insertLine(StmtId begin, const std::string& line) {
        draft_.insertBefore(begin, draft_.layout().indentation(body_.stmt(begin).span.begin) +
                                       line + draft_.layout().newline());
    }

    /// Loads each value that rounds share once, ahead of the run that uses it.
    void nameLoads(PartRunWriter& runs) {
        std::vector<std::pair<NamedLoad, std::string>> known;
        for (const NamedLoad& load : plan_.named) {
            auto same = std::ranges::find_if(known, [&](const auto& other) {
                return other.first.run == load.run &&
                       context_.code().sameExpression(other.first.expr, load.expr);
            });
            if (same == known.end()) {
                const StmtId begin = plan_.work.runs[load.run].statements.front().statement;
                const std::string name = names_.add("loaded");
                insertLine(begin, fmt::format("const auto {} = {};", name, textOf(load.expr)));
                same = known.insert(known.end(), {load, name});
            }
            runs.change(body_.expr(load.expr).span, same->second);
        }
    }

    /// Appends the loop as it was, which goes on where groups end.
    void writeRest() {
        const Stmt& stmt = body_.stmt(loop_.statement);
        const SourceLayout& layout = draft_.layout();
        const std::uint32_t begin = layout.lineBegin(beginWithPragma(stmt));
        draft_.insertAfter(
            loop_.statement,
            rewritten(source_, {begin, layout.lineAfter(stmt.span.end)},
                      {{withBrackets(body_.expr(plan_.outer.counted.start).span), first_}}));
    }
    /// The span with the brackets around it.
    [[nodiscard]] Span withBrackets(Span span) const {
        const std::string_view text = source_.text();
        const std::size_t before = text.find_last_not_of(" \t", span.begin - 1);
        const std::size_t behind = text.find_first_not_of(" \t", span.end);
        if (before == std::string_view::npos || behind == std::string_view::npos ||
            text[before] != '(' || text[behind] != ')')
            return span;
        return withBrackets(
            {static_cast<std::uint32_t>(before), static_cast<std::uint32_t>(behind + 1)});
    }

    Draft& draft_;
    const SkillContext& context_;
    const JamPlan& plan_;
    const FunctionBody& body_;
    const SourceText& source_;
    const Loop& loop_;
    const Variable& index_;
    int count_;
    FreshNames names_;
    std::string part_;
    std::string first_; ///< The number of a group's first round.
};

} // namespace

void jam(Draft& draft, const SkillContext& context, const JamPlan& plan, int count) {
    JamWriter(draft, context, plan, count).write();
}

} // namespace kernelskill::skills
