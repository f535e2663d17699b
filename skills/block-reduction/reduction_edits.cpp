#include "skills/block-reduction/reduction_edits.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/source_layout.h"
#include "analysis/source/gpu_constants.h"
#include "skills/block-reduction/fold_spelling.h"
#include "skills/editing/block_text.h"
#include "skills/editing/code_lines.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// A target with the names of the variables that hold its value.
struct NamedTarget {
    const BlockTarget& target;
    FoldSpelling fold;
    std::string address;
    std::string own;   ///< The thread's value, in a register.
    std::string block; ///< The block's value, in shared memory.
};

class Writer {
public:
    Writer(const SkillContext& context, const BlockUpdates& updates)
        : context_(context), code_(context.code()), body_(code_.body()),
          source_(*context.file.source), layout_(source_, context.kernel), updates_(updates) {
        for (const BlockTarget& target : updates.targets)
            targets_.push_back(named(target));
    }

    std::vector<TextEdit> edits() {
        edits_ = guardedBlocks(context_, code_, updates_.earlyReturns);
        for (const NamedTarget& target : targets_)
            for (const UpdateSite& site : target.target.sites)
                gather(target, site);
        const StmtId first = updates_.earlyReturns.empty() ? updates_.all.sites.front().outermost
                                                           : updates_.earlyReturns.front().guard;
        edits_.push_back(linesBefore(source_, body_.stmt(first), head()));
        insertAfter(updates_.all.sites.back().outermost, tail());
        return withoutCovered(std::move(edits_));
    }

private:
    [[nodiscard]] NamedTarget named(const BlockTarget& target) const {
        const std::string& base = body_.variable(updates_.all.base).name;
        const std::string number =
            updates_.targets.size() > 1 ? std::to_string(targets_.size()) : "";
        const auto name = [&](std::string_view owner) {
            return freshName(body_, joinedName(owner, base) + number);
        };
        return {target, FoldSpelling(target.fold, updates_.all.scalar, updates_.all.element),
                std::string(source_.slice(body_.expr(target.address).span)), name("thread"),
                name("block")};
    }

    [[nodiscard]] std::string indentation() const {
        return layout_.indentation(body_.stmt(updates_.all.sites.front().outermost).span.begin);
    }

    [[nodiscard]] CodeLines head() const {
        CodeLines lines(layout_, indentation());
        lines.add(fmt::format("// Each thread gathers its own; one atomic a {} updates {}.",
                              updates_.hasManyWarps() ? "block" : "warp",
                              body_.variable(updates_.all.base).name));
        if (updates_.hasManyWarps()) {
            for (const NamedTarget& target : targets_)
                lines.add(fmt::format("__shared__ {} {};", updates_.all.element, target.block));
            addIf(lines, isFirstThread(updates_.launched.isFlat), [](const NamedTarget& target) {
                return fmt::format("{} = {};", target.block, target.fold.neutral());
            });
            lines.add("__syncthreads();");
        }
        for (const NamedTarget& target : targets_)
            lines.add(fmt::format("{} {} = {};", updates_.all.element, target.own,
                                  target.fold.neutral()));
        return lines;
    }

    [[nodiscard]] CodeLines tail() const {
        CodeLines lines(layout_, indentation());
        const std::string offset = freshName(body_, "offset");
        addControlled(lines,
                      fmt::format("for (int {0} = {1}; {0} > 0; {0} /= 2)", offset, warpLanes / 2),
                      [&](const NamedTarget& target) {
                          return target.fold.folded(
                                     target.own, fmt::format("__shfl_down_sync(0xffffffff, {}, {})",
                                                             target.own, offset)) +
                                 ";";
                      });
        if (!updates_.hasManyWarps()) {
            addUpdates(lines, isFirstLane(), [](const NamedTarget& target) { return target.own; });
            return lines;
        }
        addIf(lines, isFirstLane(), [](const NamedTarget& target) {
            return fmt::format("{}(&{}, {});", target.target.function, target.block, target.own);
        });
        lines.add("__syncthreads();");
        addUpdates(lines, isFirstThread(updates_.launched.isFlat),
                   [](const NamedTarget& target) { return target.block; });
        return lines;
    }

    /// Adds the atomics on the addresses. If a block may have no update, its address may be
    /// invalid, so that a value that changes nothing is not added.
    template <typename Value>
    void addUpdates(CodeLines& lines, std::string_view condition, Value value) const {
        const auto update = [&](const NamedTarget& target) {
            return fmt::format("{}({}, {});", target.target.function, target.address,
                               value(target));
        };
        if (!updates_.mayTouchNothing)
            return addIf(lines, condition, update);
        for (const NamedTarget& target : targets_)
            lines
                .open(fmt::format("if ({} && {} != {})", condition, value(target),
                                  target.fold.neutral()))
                .add(update(target))
                .leave();
    }

    template <typename LineOf>
    void addIf(CodeLines& lines, std::string_view condition, LineOf lineOf) const {
        addControlled(lines, fmt::format("if ({})", condition), lineOf);
    }

    /// Adds a line for each target below `head`, in brackets if they are several.
    template <typename LineOf>
    void addControlled(CodeLines& lines, const std::string& head, LineOf lineOf) const {
        const bool hasBrackets = targets_.size() > 1;
        lines.open(hasBrackets ? head + " {" : head);
        for (const NamedTarget& target : targets_)
            lines.add(lineOf(target));
        if (hasBrackets)
            lines.close();
        else
            lines.leave();
    }

    /// Returns the condition that holds for the first lane of a warp.
    [[nodiscard]] std::string isFirstLane() const {
        return fmt::format("{} % {} == 0", threadInBlock(updates_.lanes), warpLanes);
    }

    /// Turns the atomic into an update of the thread's own value.
    void gather(const NamedTarget& target, const UpdateSite& site) {
        const Span call = body_.expr(site.call).span;
        const Span value = body_.expr(site.value).span;
        const std::string cast = target.fold.conversion(body_.expr(site.value).type);
        const std::string closing = cast.empty() ? "" : ")";
        if (target.fold.isOperator()) {
            edits_.push_back({{call.begin, value.begin},
                              fmt::format("{} {} {}", target.own, target.fold.assignment(), cast)});
            edits_.push_back({{value.end, call.end}, closing});
            return;
        }
        edits_.push_back(
            {{call.begin, value.begin},
             fmt::format("{0} = {1}({0}, {2}", target.own, target.fold.function(), cast)});
        edits_.push_back({{value.end, call.end}, closing + ")"});
    }

    /// Adds whole lines that every thread reaches after `stmt`.
    void insertAfter(StmtId stmt, const CodeLines& lines) {
        edits_.push_back(updates_.earlyReturns.empty()
                             ? linesAfter(layout_, body_.stmt(stmt).span, lines)
                             : linesAtEnd(layout_, context_.kernel, lines));
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    const BlockUpdates& updates_;
    std::vector<NamedTarget> targets_;
    std::vector<TextEdit> edits_;
};

} // namespace

std::vector<TextEdit> blockReductionEdits(const SkillContext& context,
                                          const BlockUpdates& updates) {
    return Writer(context, updates).edits();
}

} // namespace kernelskill::skills
