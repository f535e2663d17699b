/// Gathers the work of a block's threads that have some, so that whole warps do it.
#include "analysis/queries/source_layout.h"
#include "skills/base/planned_skill.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/condition_text.h"
#include "skills/editing/fresh_names.h"
#include "skills/schedule/part_locals.h"
#include "skills/work-compaction/rare_work.h"

#include <spdlog/fmt/fmt.h>

#include <string>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class Writer {
public:
    Writer(const SkillContext& context, const RareWork& work)
        : context_(context), body_(context.kernel.body), source_(*context.file.source),
          layout_(source_, context.kernel), work_(work), number_(body_.variable(work.number)),
          first_(body_.stmt(work.guards.front())), last_(body_.stmt(work.guards.back())),
          indentation_(layout_.indentation(first_.span.begin)) {
        FreshNames names(body_);
        waiting_ = names.add("waiting");
        count_ = names.add("waitingCount");
    }

    [[nodiscard]] std::vector<TextEdit> edits() const {
        return work_.form == RareForm::Branch ? branchEdits() : returnEdits();
    }

private:
    [[nodiscard]] std::vector<TextEdit> branchEdits() const {
        CodeLines lines(layout_, indentation_);
        addList(lines, std::string(textOf(first_.condition)));
        lines.open(fmt::format("if (threadIdx.x < {}) {{", count_));
        lines.add(fmt::format("const {} {} = {}[threadIdx.x];", keptType(number_), number_.name,
                              waiting_));
        const Stmt& work = body_.stmt(first_.children[0]);
        std::string head = lines.text().substr(indentation_.size());
        if (work.kind == StmtKind::Compound) {
            head.resize(head.size() - layout_.newline().size());
            return {{{first_.span.begin, work.span.begin + 1}, std::move(head)}};
        }
        head += layout_.indentation(work.span.begin);
        const std::uint32_t end = layout_.endOfLineTrivia(first_.span.end);
        return {{{first_.span.begin, work.span.begin}, std::move(head)},
                {{end, end}, layout_.newline() + indentation_ + "}"}};
    }

    [[nodiscard]] std::vector<TextEdit> returnEdits() const {
        std::string condition;
        for (const StmtId guard : work_.guards)
            condition += (condition.empty() ? "" : " && ") +
                         negated(context_, context_.code(), body_.stmt(guard).condition);
        CodeLines lines(layout_, indentation_);
        addList(lines, condition);
        lines.open(fmt::format("if (threadIdx.x >= {})", count_)).add("return;").leave();
        lines.add(fmt::format("{} = {}[threadIdx.x];", number_.name, waiting_));
        std::string text = lines.text().substr(indentation_.size());
        text.resize(text.size() - layout_.newline().size());
        return {{{first_.span.begin, last_.span.end}, std::move(text)}};
    }

    /// Lines that leave the numbers of threads for which the condition holds on a list.
    void addList(CodeLines& lines, const std::string& condition) const {
        lines.add(
            "// Threads with work put their numbers on a list; the first threads of the block "
            "do it.");
        lines.add(fmt::format("__shared__ {} {}[{}];", keptType(number_), waiting_, work_.threads));
        lines.add(fmt::format("__shared__ unsigned {};", count_));
        lines.open("if (threadIdx.x == 0)").add(fmt::format("{} = 0;", count_)).leave();
        lines.add("__syncthreads();");
        lines.open(fmt::format("if ({})", condition));
        lines.add(fmt::format("{}[atomicAdd(&{}, 1u)] = {};", waiting_, count_, number_.name));
        lines.leave();
        lines.add("__syncthreads();");
    }

    [[nodiscard]] std::string_view textOf(ExprId id) const {
        return source_.slice(body_.expr(id).span);
    }

    const SkillContext& context_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    const RareWork& work_;
    const Variable& number_;
    const Stmt& first_;
    const Stmt& last_;
    std::string indentation_;
    std::string waiting_;
    std::string count_;
};

class WorkCompactionSkill : public PlannedSkill<RareWork> {
    Gated<RareWork> plan(const SkillContext& context) const override {
        return findRareWork(context);
    }

    Gated<Offer> offer(const SkillContext& context, const RareWork& work) const override {
        const FunctionBody& body = context.kernel.body;
        Offer offer = newOffer(context, body.stmt(work.guards.front()).span);
        offer.title = fmt::format("Gather the work of {} in the first threads of each block",
                                  context.kernel.name);
        offer.why = fmt::format(
            "data decides on line {} which threads have the work behind it, a loop among it: a "
            "warp takes as long as its longest lane, however many lanes have none",
            lineNumber(context, body.expr(body.stmt(work.guards.back()).condition).span.begin));
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const RareWork& work) const override {
        return Writer(context, work).edits();
    }
};

} // namespace

KERNELSKILL_SKILL(WorkCompactionSkill)

} // namespace kernelskill::skills
