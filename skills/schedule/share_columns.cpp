#include "skills/schedule/share_columns.h"

#include "analysis/queries/source_words.h"
#include "skills/editing/grid_size.h"
#include "skills/schedule/fold_text.h"
#include "skills/schedule/promote.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::array<std::string_view, 3> axes = {"x", "y", "z"};

class ColumnWriter {
public:
    ColumnWriter(Draft& draft, const SkillContext& context, const ColumnParts& columns,
                 std::int64_t parts)
        : draft_(draft), context_(context), columns_(columns), shared_(columns.shared),
          body_(context.kernel.body), newline_(draft.layout().newline()), count_(parts),
          parts_(freshName(body_, "parts")), part_(freshName(body_, "part")),
          other_(freshName(body_, "other")), isFirst_(part_ + " == 0"),
          partials_(partialsOf(context, columns.shared)) {}

    void write() {
        writeHead(draft_, context_, headLines());
        if (columns_.guard)
            writeGuard(*columns_.guard);
        for (std::size_t i = 0; i < shared_.kept.size(); ++i)
            promote(draft_, context_, shared_.kept[i], shared_.names[i],
                    columns_.guard ? Register::Declared : Register::Undeclared);
        for (std::size_t i = 0; i < shared_.loops.size(); ++i)
            share(i);
        for (std::size_t i = 0; i < shared_.kept.size(); ++i)
            storeBack(draft_, {shared_.kept[i]}, {shared_.names[i]},
                      isAlone(shared_.kept[i].region.back(), true) ? "" : isFirst_);
        for (const StmtId store : shared_.stores)
            if (!isAlone(store, false))
                draft_.guard(store, isFirst_);
        for (const LaunchSite& launch : context_.kernel.launches)
            writeLaunch(launch);
        if (columns_.guard && columns_.guard->returnsEarly)
            closeGuard(*columns_.guard);
    }

private:
    /// Returns the subscripts of a thread's column, "[threadIdx.y][threadIdx.x]", or the extents of
    /// all.
    [[nodiscard]] std::string column(bool isExtent) const {
        std::string text;
        for (const std::size_t axis : {2U, 1U, 0U}) {
            const std::int64_t extent = axis == 0 ? columns_.columns() : columns_.block[axis];
            if (axis == columns_.axis || (extent == 1 && axis != 0))
                continue;
            text +=
                isExtent ? fmt::format("[{}]", extent) : fmt::format("[threadIdx.{}]", axes[axis]);
        }
        return text;
    }
    [[nodiscard]] std::string place(const Partial& partial, std::string_view part) const {
        return fmt::format("{}[{}]{}", partial.array, part, column(false));
    }

    [[nodiscard]] std::vector<std::string> headLines() const {
        std::vector<std::string> lines{fmt::format("constexpr int {} = {};", parts_, count_)};
        for (const std::vector<Partial>& partials : partials_)
            for (const Partial& partial : partials)
                lines.push_back(fmt::format("__shared__ {} {}[{}]{};", partial.value.type,
                                            partial.array, parts_, column(true)));
        lines.push_back(fmt::format("const int {} = threadIdx.{};", part_, axes[columns_.axis]));
        return lines;
    }

    void writeGuard(const SplitGuard& guard) {
        const Stmt& stmt = body_.stmt(guard.statement);
        const std::string indentation = draft_.layout().indentation(stmt.span.begin);
        std::vector<std::string> lines;
        for (const StmtId id : guard.moved) {
            lines.emplace_back(context_.file.source->slice(body_.stmt(id).span));
            draft_.remove(id);
        }
        for (const StmtId id : guard.emptied) {
            const Stmt& emptied = body_.stmt(id);
            const Variable& variable = body_.variable(emptied.declared.front());
            lines.push_back(
                fmt::format("{} {};", withoutConst(variable.type.spelling), variable.name));
            draft_.replace(emptied.span, fmt::format("{} = {};", variable.name,
                                                     context_.file.source->slice(
                                                         body_.expr(variable.init).span)));
        }
        for (std::size_t i = 0; i < shared_.kept.size(); ++i)
            lines.push_back(fmt::format("{} {};", shared_.kept[i].type, shared_.names[i]));
        for (const LaneLoop& loop : shared_.loops)
            for (std::string& line : countLines(loop))
                lines.push_back(std::move(line));
        if (!guard.returnsEarly) {
            draft_.before(guard.statement, lines);
            return;
        }
        std::string text;
        for (const std::string& line : lines)
            text += line + newline_ + indentation;
        draft_.replace(stmt.span, text + guard.opening);
        draft_.indent({stmt.span.end, draft_.layout().lineBegin(context_.kernel.bodySpan.end - 1)});
    }
    void closeGuard(const SplitGuard& guard) {
        const std::uint32_t begin = body_.stmt(guard.statement).span.begin;
        draft_.insertAfter(body_.stmt(body_.root).children.back(),
                           draft_.layout().indentation(begin) + "}" + newline_);
    }

    /// Whether the statement (if `isBehind`, what stands behind it) is where the first of the
    /// threads is alone.
    [[nodiscard]] bool isAlone(StmtId statement, bool isBehind) const {
        if (!columns_.guard || !columns_.guard->endsAlone)
            return false;
        std::uint32_t last = 0;
        for (const LaneLoop& loop : shared_.loops)
            if (needsBarrier(loop))
                last = std::max(last, body_.stmt(loop.statement).span.end);
        const Span span = body_.stmt(statement).span;
        return (isBehind ? span.end >= last : span.begin >= last) &&
               context_.code().encloses(columns_.guard->block, statement);
    }

    void share(std::size_t index) {
        const LaneLoop& loop = shared_.loops[index];
        if (loop.syncsBefore)
            barrier(loop, false, {});
        if (const std::vector<std::string> counts = countLines(loop);
            !columns_.guard && !counts.empty())
            draft_.before(loop.statement, counts);
        shareRounds(draft_, context_, loop, {part_, parts_});
        if (!needsBarrier(loop))
            return;
        std::vector<std::string> writes;
        for (const Partial& partial : partials_[index])
            writes.push_back(fmt::format("{} = {};", place(partial, part_), partial.value.name));
        // The array may still be read from the round before of a loop around.
        if (!columns_.guard && isInLoop(loop) && !writes.empty())
            writes.insert(writes.begin(), "__syncthreads();");
        barrier(loop, true, writes);
        std::vector<std::string> folds;
        for (const Partial& partial : partials_[index])
            folds.push_back(fmt::format("{} = {};", partial.value.name, place(partial, "0")));
        if (folds.empty())
            return;
        for (std::string& line :
             draft_.controlled(fmt::format("for (int {0} = 1; {0} < {1}; ++{0})", other_, parts_),
                               foldLines(draft_, context_, loop, [&](const std::string& name) {
                                   return place(partialOf(partials_[index], name), other_);
                               })))
            folds.push_back(std::move(line));
        draft_.after(loop.statement, folds);
    }
    [[nodiscard]] bool isInLoop(const LaneLoop& loop) const {
        return context_.kernel.loops[loop.loop].parent != noId;
    }

    /// Adds `lines` and a barrier that all threads of the block come to, behind the loop or before
    /// it.
    void barrier(const LaneLoop& loop, bool isBehind, std::vector<std::string> lines) {
        const auto add = [&](const std::vector<std::string>& added) {
            if (isBehind)
                draft_.after(loop.statement, added);
            else
                draft_.before(loop.statement, added);
        };
        if (!columns_.guard) {
            lines.emplace_back("__syncthreads();");
            add(lines);
            return;
        }
        add(lines);
        const SplitGuard& guard = *columns_.guard;
        const std::uint32_t begin = body_.stmt(guard.statement).span.begin;
        const std::string indentation = draft_.layout().indentation(begin);
        const bool isLast = isBehind && guard.endsAlone && isLastBarrier(loop);
        const std::string text = indentation + "}" + newline_ + indentation + "__syncthreads();" +
                                 newline_ + indentation + (isLast ? alone(guard) : guard.opening) +
                                 newline_;
        if (isBehind)
            draft_.insertAfter(loop.statement, text);
        else
            draft_.insertBefore(loop.statement, text);
    }
    [[nodiscard]] bool isLastBarrier(const LaneLoop& loop) const {
        return std::ranges::all_of(shared_.loops, [&](const LaneLoop& other) {
            return !needsBarrier(other) ||
                   body_.stmt(other.statement).span.begin <= body_.stmt(loop.statement).span.begin;
        });
    }
    /// Returns the opening of the last part, which the first of the threads runs alone.
    [[nodiscard]] std::string alone(const SplitGuard& guard) const {
        const bool isLoose = guard.condition.contains("||") || guard.condition.contains('?');
        const std::string condition = isLoose ? "(" + guard.condition + ")" : guard.condition;
        std::string text = guard.opening;
        const auto at = text.find(guard.condition);
        return text.replace(at, guard.condition.size(), condition + " && " + isFirst_);
    }

    void writeLaunch(const LaunchSite& launch) {
        const FunctionBody& host = context_.file.hostFunctions[launch.host].body;
        const Expr& block = host.expr(launch.block);
        const std::string text{context_.file.source->slice(block.span)};
        std::vector<std::string> extents;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            if (axis == columns_.axis)
                extents.push_back(std::to_string(count_));
            else if (axis == 0 && columns_.canNarrow)
                extents.push_back(std::to_string(columns_.columns()));
            else if (isDim3Name(block))
                extents.push_back(fmt::format("{}.{}", text, axes[axis]));
            else if (block.kind == ExprKind::InitList)
                extents.push_back(axis < block.children.size()
                                      ? std::string(context_.file.source->slice(
                                            host.expr(block.children[axis]).span))
                                      : "1");
            else
                extents.push_back(axis == 0 ? text : "1");
        }
        if (columns_.axis == 1 && columns_.block[2] == 1)
            extents.pop_back();
        draft_.replace(block.span, fmt::format("dim3({})", fmt::join(extents, ", ")));
        const std::int64_t factor = columns_.block[0] / columns_.columns();
        if (factor == 1)
            return;
        TextEdit grid = multipliedGrid(context_, launch, static_cast<int>(factor));
        draft_.replace(grid.span, std::move(grid.newText));
    }

    Draft& draft_;
    const SkillContext& context_;
    const ColumnParts& columns_;
    const SharedLoops& shared_;
    const FunctionBody& body_;
    std::string newline_;
    std::int64_t count_;
    std::string parts_;
    std::string part_;
    std::string other_;
    std::string isFirst_;
    std::vector<std::vector<Partial>> partials_; ///< By loop.
};

} // namespace

void shareColumns(Draft& draft, const SkillContext& context, const ColumnParts& columns,
                  std::int64_t parts) {
    ColumnWriter(draft, context, columns, parts).write();
}

} // namespace kernelskill::skills
