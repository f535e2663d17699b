#include "skills/rows-in-turn/write_turns.h"

#include "analysis/queries/source_layout.h"
#include "skills/editing/fresh_names.h"
#include "skills/schedule/fold_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The function object of cooperative groups that folds by the operator.
std::string_view reducerOf(std::string_view op) {
    return op == "max"   ? "greater"
           : op == "min" ? "less"
           : op == "&"   ? "bit_and"
           : op == "|"   ? "bit_or"
           : op == "^"   ? "bit_xor"
                         : "plus";
}

class TurnWriter {
public:
    TurnWriter(Draft& draft, const SkillContext& context, const TurnLoops& turns)
        : draft_(draft), context_(context), turns_(turns), code_(context.code()),
          body_(code_.body()), names_(body_) {}

    void write() {
        for (std::size_t i = 0; i < turns_.values.size(); ++i)
            writeLoop(turns_.shared.loops[i], turns_.values[i]);
    }

private:
    /// A value that each row folds into, and the register of the row in turn.
    struct RowFold {
        LaneFold fold;
        std::string row;
    };

    void writeLoop(const LaneLoop& loop, const RowValues& values) {
        const std::string lanes = names_.add("lanes");
        const std::string lane = names_.add("lane");
        const std::string width = names_.add("width");
        const std::string turn = names_.add("turn");
        const std::string unit = draft_.layout().unit();
        std::vector<std::string> head{
            fmt::format("const auto {} = cooperative_groups::coalesced_threads();", lanes),
            fmt::format("const int {} = {}.thread_rank();", lane, lanes),
            fmt::format("const int {} = {}.size();", width, lanes)};
        if (loop.syncsBefore)
            head.push_back(lanes + ".sync();");
        head.push_back(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", turn, width));
        const auto add = [&](const std::string& text) { head.push_back(unit + text); };

        for (const auto& [id, uses] : values.variables) {
            const Variable& variable = body_.variable(id);
            const std::string row = names_.add(joinedName(context_, "row", variable.name));
            add(fmt::format("const auto {} = {}.shfl({}, {});", row, lanes, variable.name, turn));
            for (const ExprId use : uses)
                draft_.replace(body_.expr(use).span, row);
        }
        std::map<std::string, std::string> positions;
        for (const ExprId id : values.positions) {
            const std::string text{context_.file.source->slice(body_.expr(id).span)};
            if (!positions.contains(text)) {
                positions[text] = names_.add(fmt::format(
                    "rowThread{}", std::string_view("XYZ").substr(body_.expr(id).axis % 3, 1)));
                add(fmt::format("const auto {} = {}.shfl({}, {});", positions[text], lanes, text,
                                turn));
            }
            draft_.replace(body_.expr(id).span, positions[text]);
        }
        std::vector<RowFold> folds;
        for (const LaneFold& fold : loop.folds) {
            folds.push_back(foldOf(loop, fold));
            const std::string& row = folds.back().row;
            if (isIdempotent(fold))
                add(fmt::format("{} {} = {}.shfl({}, {});", folds.back().fold.type, row, lanes,
                                fold.name, turn));
            else
                add(fmt::format("{} {} = {};", folds.back().fold.type, row, identityOf(fold)));
        }
        draft_.before(loop.statement, head);
        writeRounds(loop, lane, width);

        std::vector<std::string> tail;
        std::vector<std::string> owned;
        for (const auto& [fold, row] : folds) {
            tail.push_back(unit + fmt::format("{0} = cooperative_groups::reduce({1}, {0}, "
                                              "cooperative_groups::{2}<{3}>());",
                                              row, lanes, reducerOf(fold.op), fold.type));
            owned.push_back(foldLine(fold, row));
        }
        if (!owned.empty())
            for (const std::string& text :
                 draft_.controlled(fmt::format("if ({} == {})", lane, turn), std::move(owned)))
                tail.push_back(unit + text);
        tail.emplace_back("}");
        if (loop.syncsAfter)
            tail.push_back(lanes + ".sync();");
        draft_.after(loop.statement, tail);
    }

    /// Gives the row in turn a register for the fold, which the rounds use instead.
    RowFold foldOf(const LaneLoop& loop, const LaneFold& fold) {
        LaneFold own = fold;
        std::string name = fold.name;
        std::vector<ExprId> uses;
        for (std::size_t i = 0; i < turns_.shared.kept.size(); ++i)
            if (turns_.shared.kept[i].text == fold.name) {
                name = turns_.shared.names[i];
                own.type = turns_.shared.kept[i].type;
                uses = turns_.shared.kept[i].uses;
            }
        if (uses.empty())
            for (VariableId id = 0; id < body_.variables.size(); ++id)
                if (body_.variable(id).name == fold.name && uses.empty() &&
                    std::ranges::any_of(code_.uses(id), [&](ExprId use) {
                        return code_.holds(loop.statement, use);
                    }))
                    uses = code_.uses(id);
        own.type = withoutConst(own.type);
        std::string row = names_.add(joinedName(context_, "row", name));
        for (const ExprId use : uses)
            if (code_.holds(loop.statement, use))
                draft_.replace(body_.expr(use).span, row);
        return {std::move(own), std::move(row)};
    }

    /// Deals the rounds out to the lanes, one level deeper than they are.
    void writeRounds(const LaneLoop& shared, const std::string& lane, const std::string& width) {
        const Loop& loop = context_.kernel.loops[shared.loop];
        const Stmt& statement = body_.stmt(shared.statement);
        const Expr& lower = body_.expr(loop.lowerBound);
        const std::int64_t step = *loop.step;
        const std::string own = step == 1 ? lane : fmt::format("{} * {}", lane, step);
        if (code_.constantValue(loop.lowerBound) == 0)
            draft_.replace(lower.span, own);
        else
            draft_.replace({lower.span.end, lower.span.end}, " + " + own);
        draft_.replace(body_.expr(statement.increment).span,
                       fmt::format("{} += {}", body_.variable(loop.inductionVariable).name,
                                   step == 1 ? width : fmt::format("{} * {}", step, width)));
        const std::uint32_t begin = beginWithPragma(statement);
        draft_.replace({begin, begin}, draft_.layout().unit());
        draft_.indent({begin, statement.span.end});
    }

    Draft& draft_;
    const SkillContext& context_;
    const TurnLoops& turns_;
    const CodeMap& code_;
    const FunctionBody& body_;
    FreshNames names_;
};

} // namespace

void writeTurns(Draft& draft, const SkillContext& context, const TurnLoops& turns) {
    TurnWriter(draft, context, turns).write();
}

} // namespace kernelskill::skills
