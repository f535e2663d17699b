#include "skills/block-coarsening/block_parts.h"
#include "skills/editing/block_count.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/fresh_names.h"
#include "skills/editing/grid_size.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class PartsWriter {
public:
    PartsWriter(Draft& draft, const SkillContext& context, const BlockParts& found, int count)
        : draft_(draft), context_(context), body_(context.kernel.body),
          source_(*context.file.source), layout_(draft.layout()), found_(found), count_(count),
          names_(body_), part_(names_.add("part")), block_(names_.add("block")),
          blocks_(names_.add("blocks")) {}

    void write() {
        collectReplacements();
        for (std::size_t i = 0; i < found_.runs.size(); ++i)
            writeRun(found_.runs[i], found_.locals.runs[i], found_.guarded[i]);
        for (const TextEdit& edit : replacements_)
            if (std::ranges::none_of(moved_, [&](Span span) { return span.contains(edit.span); }))
                draft_.replace(edit.span, edit.newText);
        for (const TextEdit& edit : passedBlockCount(context_, found_.axis, blocks_))
            draft_.replace(edit.span, edit.newText);
        for (const LaunchSite& launch : context_.kernel.launches) {
            std::array<int, 3> divisors{1, 1, 1};
            divisors[found_.axis] = count_;
            for (const TextEdit& edit : dividedGridAxes(context_, launch, divisors))
                draft_.replace(edit.span, edit.newText);
        }
    }

private:
    /// What changes in the user's own statements.
    void collectReplacements() {
        for (const ExprId id : found_.blocks)
            replacements_.push_back({body_.expr(id).span, block_});
        for (const ExprId id : found_.grids)
            replacements_.push_back({body_.expr(id).span, blocks_});
        for (const StmtId id : found_.returns)
            replacements_.push_back({body_.stmt(id).span, "continue;"});
        for (const VariableId id : found_.locals.kept) {
            const Variable& variable = body_.variable(id);
            const std::uint32_t end =
                variable.span.begin + static_cast<std::uint32_t>(variable.name.size());
            if (const StmtId declaration = splitDeclarationOf(id); declaration != noId)
                replacements_.push_back({{body_.stmt(declaration).span.begin, end},
                                         fmt::format("{}[{}]", variable.name, part_)});
            else
                replacements_.push_back({{end, end}, fmt::format("[{}]", count_)});
            for (const ExprId use : context_.code().uses(id))
                replacements_.push_back({{body_.expr(use).span.end, body_.expr(use).span.end},
                                         fmt::format("[{}]", part_)});
        }
    }

    /// The declaration that becomes an assignment to the kept variable; noId if it stays one.
    [[nodiscard]] StmtId splitDeclarationOf(VariableId id) const {
        const StmtId declaration = context_.code().declarationOf(id);
        return std::ranges::any_of(found_.locals.runs,
                                   [&](const RunLocals& run) {
                                       return std::ranges::find(run.split, declaration) !=
                                              run.split.end();
                                   })
                   ? declaration
                   : noId;
    }

    void writeRun(const PartedRun& run, const RunLocals& locals, bool isGuarded) {
        const StmtId first = run.statements.front().statement;
        const StmtId last = run.statements.back().statement;
        const Stmt& begin = body_.stmt(first);
        const std::string indentation = layout_.indentation(begin.span.begin);
        std::string ahead;
        for (const StmtId id : locals.ahead) {
            const Span statement = body_.stmt(id).span;
            const Span lines{layout_.lineBegin(statement.begin), layout_.lineAfter(statement.end)};
            ahead += changed(lines);
            draft_.replace(lines, {});
            moved_.push_back(lines);
        }
        CodeLines head(layout_, indentation);
        for (const StmtId id : locals.split)
            for (const VariableId declared : body_.stmt(id).declared)
                head.add(fmt::format("{} {}[{}];", keptType(body_.variable(declared)),
                                     body_.variable(declared).name, count_));
        head.add("#pragma unroll")
            .open(fmt::format("for (unsigned int {0} = 0; {0} < {1}; ++{0}) {{", part_, count_));
        if (isGuarded || asksForBlock(run, locals))
            head.add(fmt::format("const unsigned int {} = blockIdx.{} * {} + {};", block_,
                                 "xyz"[found_.axis], count_, part_));
        if (isGuarded)
            head.open(fmt::format("if ({} >= {})", block_, blocks_)).add("continue;").leave();
        for (const StmtId id : locals.again)
            head.addBlock(changed(body_.stmt(id).span),
                          layout_.indentation(body_.stmt(id).span.begin));
        draft_.insertBefore(first, ahead + head.text());
        const std::uint32_t line =
            layout_.lineBegin(begin.pragma.empty() ? begin.span.begin : begin.pragmaSpan.begin);
        draft_.indent({line - 1, body_.stmt(last).span.end});
        draft_.insertAfter(last, indentation + "}" + layout_.newline());
    }

    [[nodiscard]] bool asksForBlock(const PartedRun& run, const RunLocals& locals) const {
        const auto holdsBlock = [&](StmtId statement) {
            return std::ranges::any_of(found_.blocks, [&](ExprId id) {
                return body_.stmt(statement).span.contains(body_.expr(id).span);
            });
        };
        return std::ranges::any_of(run.statements, holdsBlock, &RoledStatement::statement) ||
               std::ranges::any_of(locals.again, holdsBlock);
    }

    /// The text of `span` with all replacements in it.
    [[nodiscard]] std::string changed(Span span) const {
        std::vector<TextEdit> parts;
        std::ranges::copy_if(replacements_, std::back_inserter(parts),
                             [&](const TextEdit& edit) { return span.contains(edit.span); });
        return rewritten(source_, span, std::move(parts));
    }

    Draft& draft_;
    const SkillContext& context_;
    const FunctionBody& body_;
    const SourceText& source_;
    const SourceLayout& layout_;
    const BlockParts& found_;
    int count_;
    FreshNames names_;
    std::string part_;
    std::string block_;
    std::string blocks_;
    std::vector<TextEdit> replacements_; ///< In the kernel's own statements.
    std::vector<Span> moved_;            ///< Lines whose text stands elsewhere, changed already.
};

} // namespace

void coarsen(Draft& draft, const SkillContext& context, const BlockParts& found, int count) {
    PartsWriter(draft, context, found, count).write();
}

} // namespace kernelskill::skills
