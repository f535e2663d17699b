#include "skills/schedule/part_runs.h"

#include "analysis/queries/source_layout.h"
#include "analysis/source/try.h"
#include "analysis/syntax/statement_kinds.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class RunGates {
public:
    RunGates(const SkillContext& context, const StatementRoles& roles)
        : context_(context), body_(context.kernel.body), roles_(roles) {}

    [[nodiscard]] Gated<void> requireOwnExits() const {
        for (StmtId id = 0; id < body_.stmts.size(); ++id) {
            const StmtKind kind = body_.stmt(id).kind;
            if (!roles_.runOf(id))
                continue;
            if (kind == StmtKind::Goto)
                return refuse("leaves-loop",
                              fmt::format("line {} jumps to another place", line(id)));
            if (kind == StmtKind::Break || kind == StmtKind::Continue)
                KERNELSKILL_CHECK(requireOwnLoop(id));
        }
        return {};
    }

    [[nodiscard]] Gated<void> requireLines(const PartedWork& work) const {
        for (std::size_t i = 0; i < work.runs.size(); ++i) {
            const auto& statements = work.runs[i].statements;
            const StmtId first = statements.front().statement;
            const bool isInBlock = body_.stmt(body_.stmt(first).parent).kind == StmtKind::Compound;
            if (!isInBlock &&
                (roles_.origin().kind != PartKind::Rounds || !work.locals.runs[i].split.empty()))
                return refuse("several-statements-a-line",
                              fmt::format("line {} is a body without brackets", line(first)));
            KERNELSKILL_CHECK(requireOwnLines(first, statements.back().statement));
            for (const StmtId moved : work.locals.runs[i].ahead)
                KERNELSKILL_CHECK(requireOwnLines(moved, moved));
            for (const StmtId split : work.locals.runs[i].split)
                KERNELSKILL_CHECK(requireOwnLines(split, split));
        }
        return {};
    }

private:
    [[nodiscard]] std::uint32_t line(StmtId id) const {
        return lineNumber(context_, body_.stmt(id).span.begin);
    }

    /// A part may leave only loops of its own: others go on.
    [[nodiscard]] Gated<void> requireOwnLoop(StmtId exit) const {
        const bool isBreak = body_.stmt(exit).kind == StmtKind::Break;
        for (StmtId at = body_.stmt(exit).parent; roles_.runOf(at).has_value();
             at = body_.stmt(at).parent)
            if (isLoop(body_.stmt(at).kind) || (isBreak && body_.stmt(at).kind == StmtKind::Switch))
                return {};
        return refuse("leaves-loop", fmt::format("line {} may leave the loop in some {} alone",
                                                 line(exit), partsText()));
    }

    [[nodiscard]] std::string_view partsText() const {
        switch (roles_.origin().kind) {
        case PartKind::Blocks:
            return "blocks";
        case PartKind::Warps:
            return "threads";
        case PartKind::Rounds:
            return "rounds";
        }
        std::unreachable();
    }

    [[nodiscard]] Gated<void> requireOwnLines(StmtId first, StmtId last) const {
        const SourceLayout layout(*context_.file.source, context_.kernel);
        if (!body_.stmt(first).fromMacro && !body_.stmt(last).fromMacro &&
            hasOwnLines(body_, layout, first, last))
            return {};
        return refuse(
            "several-statements-a-line",
            fmt::format("line {} or {} holds more than one statement", line(first), line(last)));
    }

    const SkillContext& context_;
    const FunctionBody& body_;
    const StatementRoles& roles_;
};

} // namespace

Gated<PartedWork> partedWork(const SkillContext& context, const StatementRoles& roles) {
    const RunGates gates(context, roles);
    KERNELSKILL_CHECK(gates.requireOwnExits());
    PartedWork work{.runs = roles.runs(), .locals = {}};
    KERNELSKILL_TRY(work.locals, partLocals(context, roles));
    KERNELSKILL_CHECK(gates.requireLines(work));
    return work;
}

PartRunWriter::PartRunWriter(Draft& draft, const SkillContext& context, const PartedWork& work,
                             PartLoop part)
    : draft_(draft), context_(context), body_(context.kernel.body), work_(work),
      part_(std::move(part)) {}

void PartRunWriter::write(const Head& head) {
    changeKept();
    for (std::size_t i = 0; i < work_.runs.size(); ++i)
        writeRun(i, head);
    for (const TextEdit& edit : changes_)
        if (std::ranges::none_of(moved_, [&](Span span) { return span.contains(edit.span); }))
            draft_.replace(edit.span, edit.newText);
}

/// Gives kept variables an element for each part, where they are declared and used.
void PartRunWriter::changeKept() {
    const PartLocals& locals = work_.locals;
    for (const VariableId id : locals.kept) {
        const Variable& variable = body_.variable(id);
        const std::uint32_t end =
            variable.span.begin + static_cast<std::uint32_t>(variable.name.size());
        const bool isOwn = std::ranges::find(locals.own, id) != locals.own.end();
        const std::string& index = isSharedStorage(variable) && !part_.sharedIndex.empty()
                                       ? part_.sharedIndex
                                       : part_.name;
        if (const StmtId declaration = splitDeclarationOf(id); declaration != noId)
            changes_.push_back({{body_.stmt(declaration).span.begin, end},
                                fmt::format("{}[{}]", variable.name, part_.name)});
        else if (!isOwn)
            changes_.push_back({{end, end}, fmt::format("[{}]", part_.count)});
        for (const ExprId use : context_.code().uses(id)) {
            const bool isOfRun = std::ranges::any_of(work_.runs, [&](const PartedRun& run) {
                return std::ranges::any_of(run.statements, [&](const RoledStatement& each) {
                    return context_.code().holds(each.statement, use);
                });
            });
            if (isOfRun || !isOwn)
                changes_.push_back({{body_.expr(use).span.end, body_.expr(use).span.end},
                                    fmt::format("[{}]", index)});
        }
    }
}

/// The declaration that becomes an assignment to the kept variable; noId if it stays one.
StmtId PartRunWriter::splitDeclarationOf(VariableId id) const {
    const StmtId declaration = context_.code().declarationOf(id);
    return std::ranges::any_of(work_.locals.runs,
                               [&](const RunLocals& run) {
                                   return std::ranges::find(run.split, declaration) !=
                                          run.split.end();
                               })
               ? declaration
               : noId;
}

void PartRunWriter::writeRun(std::size_t index, const Head& head) {
    const PartedRun& run = work_.runs[index];
    const RunLocals& locals = work_.locals.runs[index];
    const SourceLayout& layout = draft_.layout();
    const StmtId first = run.statements.front().statement;
    const StmtId last = run.statements.back().statement;
    const Stmt& begin = body_.stmt(first);
    const std::string indentation = layout.indentation(begin.span.begin);
    std::string ahead;
    for (const StmtId id : locals.ahead) {
        const Span statement = body_.stmt(id).span;
        const Span lines{layout.lineBegin(statement.begin), layout.lineAfter(statement.end)};
        ahead += changed(lines);
        draft_.replace(lines, {});
        moved_.push_back(lines);
    }
    CodeLines lines(layout, indentation);
    for (const StmtId id : locals.split)
        for (const VariableId declared : body_.stmt(id).declared)
            lines.add(fmt::format("{} {}[{}];", keptType(body_.variable(declared)),
                                  body_.variable(declared).name, part_.count));
    lines.add("#pragma unroll")
        .open(fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1}) {{", part_.type, part_.name,
                          part_.count));
    head(index, lines);
    for (const StmtId id : locals.again)
        lines.addBlock(changed(body_.stmt(id).span), layout.indentation(body_.stmt(id).span.begin));
    draft_.insertBefore(first, ahead + lines.text());
    const std::uint32_t line = layout.lineBegin(beginWithPragma(begin));
    draft_.indent({line - 1, body_.stmt(last).span.end});
    draft_.insertAfter(last, indentation + "}" + layout.newline());
    if (body_.stmt(begin.parent).kind != StmtKind::Compound)
        draft_.bracket(first);
}

bool PartRunWriter::uses(std::size_t run, const std::vector<ExprId>& all) const {
    const auto holdsOne = [&](StmtId statement) {
        return std::ranges::any_of(all, [&](ExprId id) {
            return body_.stmt(statement).span.contains(body_.expr(id).span);
        });
    };
    return std::ranges::any_of(work_.runs[run].statements, holdsOne, &RoledStatement::statement) ||
           std::ranges::any_of(work_.locals.runs[run].again, holdsOne);
}

/// The text of `span` with all changes in it.
std::string PartRunWriter::changed(Span span) const {
    std::vector<TextEdit> parts;
    std::ranges::copy_if(changes_, std::back_inserter(parts),
                         [&](const TextEdit& edit) { return span.contains(edit.span); });
    return rewritten(*context_.file.source, span, std::move(parts));
}

} // namespace kernelskill::skills
