#include "skills/editing/early_return.h"

#include "analysis/queries/source_layout.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/editing/condition_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class ReturnFinder {
public:
    ReturnFinder(const SkillContext& context, const CodeMap& code)
        : context_(context), code_(code), body_(code.body()),
          layout_(*context.file.source, context.kernel) {}

    Gated<std::vector<EarlyReturn>> find() const {
        std::vector<EarlyReturn> found;
        for (const StmtId id : code_.statementsIn(body_.root)) {
            const Stmt& stmt = body_.stmt(id);
            if (stmt.kind == StmtKind::Goto || stmt.kind == StmtKind::Asm ||
                stmt.kind == StmtKind::Other)
                return refuse("early-exit",
                              fmt::format("what runs after line {} is not known", lineOf(stmt)));
            if (stmt.kind != StmtKind::Return)
                continue;
            KERNELSKILL_TRY(auto one, read(id));
            found.push_back(std::move(one));
        }
        if (!found.empty() && !layout_.startsLine(context_.kernel.bodySpan.end - 1))
            return refuse("several-statements-a-line",
                          fmt::format("{} has statements on the line of its last bracket",
                                      context_.kernel.name));
        return found;
    }

private:
    [[nodiscard]] std::uint32_t lineOf(const Stmt& stmt) const {
        return lineNumber(context_, stmt.span.begin);
    }

    [[nodiscard]] Gated<EarlyReturn> read(StmtId exit) const {
        StmtId guard = body_.stmt(exit).parent;
        if (guard != noId && body_.stmt(guard).kind == StmtKind::Compound && guard != body_.root &&
            body_.stmt(guard).children.size() == 1)
            guard = body_.stmt(guard).parent;
        if (!isGuard(guard))
            return refuse("early-exit", fmt::format("threads leave the kernel on line {}",
                                                    lineOf(body_.stmt(exit))));
        if (!context_.kernel.barriers.empty() || !context_.kernel.warpOperations.empty())
            return refuse(
                "early-exit",
                fmt::format("threads that leave on line {} are missing at the barriers or "
                            "shuffles of the others",
                            lineOf(body_.stmt(exit))));
        const Stmt& stmt = body_.stmt(guard);
        if (!layout_.startsLine(stmt.span.begin) || !layout_.endsLine(stmt.span.end))
            return refuse("several-statements-a-line",
                          fmt::format("line {} holds more than the bounds check", lineOf(stmt)));
        return EarlyReturn{guard, negated(context_, code_, stmt.condition)};
    }

    [[nodiscard]] bool isGuard(StmtId guard) const {
        if (guard == noId || guard == body_.root)
            return false;
        const Stmt& stmt = body_.stmt(guard);
        return stmt.kind == StmtKind::If && stmt.children.size() == 1 && !stmt.fromMacro &&
               stmt.parent == body_.root && stmt.init == noId && stmt.declared.empty() &&
               stmt.condition != noId && isWrittenAs(*context_.file.source, stmt.span, {"if"});
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    SourceLayout layout_;
};

} // namespace

Gated<std::vector<EarlyReturn>> findEarlyReturns(const SkillContext& context, const CodeMap& code) {
    return ReturnFinder(context, code).find();
}

std::vector<TextEdit> guardedBlocks(const SkillContext& context, const CodeMap& code,
                                    const std::vector<EarlyReturn>& found) {
    const SourceLayout layout(*context.file.source, context.kernel);
    const std::uint32_t close = layout.lineBegin(context.kernel.bodySpan.end - 1);
    std::vector<TextEdit> edits;
    std::string brackets;
    std::string deeper;
    for (const EarlyReturn& exit : found) {
        const Span guard = code.body().stmt(exit.guard).span;
        edits.push_back({guard, fmt::format("if ({}) {{", exit.condition)});
        const std::vector<TextEdit> indented = layout.indented({guard.end, close});
        edits.insert(edits.end(), indented.begin(), indented.end());
        brackets.insert(0, layout.indentation(guard.begin) + deeper + "}" + layout.newline());
        deeper += layout.unit();
    }
    if (!found.empty())
        edits.push_back({{close, close}, std::move(brackets)});
    return edits;
}

std::vector<TextEdit> withoutCovered(std::vector<TextEdit> edits) {
    std::vector<Span> replaced;
    for (const TextEdit& edit : edits)
        if (!edit.span.empty())
            replaced.push_back(edit.span);
    std::erase_if(edits, [&](const TextEdit& edit) {
        return edit.span.empty() && std::ranges::any_of(replaced, [&](Span span) {
                   return span.begin < edit.span.begin && edit.span.begin < span.end;
               });
    });
    return edits;
}

} // namespace kernelskill::skills
