#include "skills/warp-shuffle-reduction/shuffle_rewriter.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/source_layout.h"
#include "analysis/queries/value_spelling.h"
#include "analysis/source/gpu_constants.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/replaced_loop.h"
#include "skills/schedule/stored_values.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <span>

namespace kernelskill::skills {

using namespace analysis;

namespace {

ArrayLoop loopOf(const SkillContext& context, const TreeReduction& tree) {
    ArrayLoop loop{.loop = context.kernel.loops[tree.loop].statement,
                   .arrays = {},
                   .thread = tree.thread,
                   .own = {tree.stride},
                   .startsWithBarrier = tree.startsWithBarrier};
    for (const FoldedArray& folded : tree.arrays)
        loop.arrays.push_back(folded.array);
    return loop;
}

class Rewriter {
public:
    Rewriter(const SkillContext& context, const CodeMap& code, const TreeReduction& tree)
        : context_(context), code_(code), body_(code.body()), source_(*context.file.source),
          layout_(source_, context.kernel), tree_(tree), offset_(freshName(body_, "offset")),
          stored_(storedValues(context, loopOf(context, tree))) {
        for (std::size_t i = 0; i < tree_.arrays.size(); ++i) {
            const FoldedArray& folded = tree_.arrays[i];
            if (stored_ && stored_->values[i].local != noId) {
                values_.push_back(body_.variable(stored_->values[i].local).name);
                continue;
            }
            const std::string wanted = valueName(folded.fold);
            std::string name = freshName(body_, wanted);
            for (int number = 2; std::ranges::find(values_, name) != values_.end(); ++number)
                name = freshName(body_, fmt::format("{}{}", wanted, number));
            values_.push_back(std::move(name));
        }
    }

    std::vector<TextEdit> edits() {
        const Stmt& loop = body_.stmt(context_.kernel.loops[tree_.loop].statement);
        const std::string indentation = layout_.indentation(loop.span.begin);
        const std::string& thread = tree_.thread;
        const std::string_view brace = values_.size() > 1 ? " {" : "";
        CodeLines lines(layout_, indentation);
        for (const std::string& comment : commentsIn(source_, loop.span))
            lines.add(comment);
        lines.add("// Each warp folds its values in registers, then the first warp folds the "
                  "warps' results.");
        if (!stored_) {
            if (tree_.startsWithBarrier)
                lines.add("__syncthreads();");
            for (std::size_t i = 0; i < values_.size(); ++i)
                lines.add(fmt::format("auto {} = {}[{}];", values_[i], array(i), thread));
        }
        addShuffles(lines);
        if (!stored_) // Other threads may not have read their elements yet.
            lines.add("__syncthreads();");
        lines.open(fmt::format("if ({} % {} == 0){}", thread, analysis::warpLanes, brace));
        for (std::size_t i = 0; i < values_.size(); ++i)
            lines.add(fmt::format("{}[{} / {}] = {};", array(i), thread, analysis::warpLanes,
                                  values_[i]));
        closeBlock(lines);
        lines.add("__syncthreads();");
        lines.open(fmt::format("if ({} < {}) {{", thread, analysis::warpLanes));
        for (std::size_t i = 0; i < values_.size(); ++i)
            addWarpResult(lines, i);
        addShuffles(lines);
        lines.open(fmt::format("if ({} == 0){}", thread, brace));
        for (std::size_t i = 0; i < values_.size(); ++i)
            lines.add(fmt::format("{}[0] = {};", array(i), values_[i]));
        closeBlock(lines);
        lines.close();
        lines.add("__syncthreads();");

        const StmtId statement = context_.kernel.loops[tree_.loop].statement;
        const bool isFreed = std::ranges::all_of(
            code_.uses(tree_.stride), [&](ExprId use) { return code_.holds(statement, use); });
        std::vector<TextEdit> edits = loopReplacedBy(lines, layout_, code_, statement,
                                                     std::span(&tree_.stride, isFreed ? 1 : 0));
        if (stored_)
            std::ranges::copy(keptInRegisters(context_, *stored_, values_),
                              std::back_inserter(edits));
        return edits;
    }

private:
    static std::string valueName(FoldKind fold) {
        switch (fold) {
        case FoldKind::Sum:
            return "sum";
        case FoldKind::Product:
            return "product";
        case FoldKind::Minimum:
            return "smallest";
        case FoldKind::Maximum:
            return "largest";
        default:
            return "value";
        }
    }

    [[nodiscard]] const std::string& array(std::size_t i) const {
        return body_.variable(tree_.arrays[i].array).name;
    }

    /// Ends a body that has braces only when it holds several statements.
    void closeBlock(CodeLines& lines) const {
        if (values_.size() > 1)
            lines.close();
        else
            lines.leave();
    }

    void addShuffles(CodeLines& lines) const {
        const bool isSingle = values_.size() == 1 && !comparesInPlace(0);
        lines.open(fmt::format("for (int {0} = {1}; {0} > 0; {0} /= 2){2}", offset_,
                               analysis::warpLanes / 2, isSingle ? "" : " {"));
        for (std::size_t i = 0; i < values_.size(); ++i)
            addShuffle(lines, i);
        if (isSingle)
            lines.leave();
        else
            lines.close();
    }

    [[nodiscard]] bool comparesInPlace(std::size_t i) const {
        const FoldedArray& folded = tree_.arrays[i];
        return folded.function.empty() &&
               (folded.fold == FoldKind::Minimum || folded.fold == FoldKind::Maximum);
    }

    void addShuffle(CodeLines& lines, std::size_t i) const {
        const FoldedArray& folded = tree_.arrays[i];
        const std::string& value = values_[i];
        const std::string other =
            fmt::format("__shfl_down_sync(0xffffffff, {}, {})", value, offset_);
        if (comparesInPlace(i)) {
            const std::string name =
                freshName(body_, fmt::format("other{}", i == 0 ? "" : std::to_string(i + 1)));
            lines.add(fmt::format("const auto {} = {};", name, other));
            lines.open(fmt::format("if ({} {} {})", name,
                                   folded.fold == FoldKind::Maximum ? '>' : '<', value));
            lines.add(fmt::format("{} = {};", value, name));
            lines.leave();
            return;
        }
        const std::string_view assignment = assignmentOperator(folded.fold);
        lines.add(assignment.empty()
                      ? fmt::format("{0} = {1}({0}, {2});", value, folded.function, other)
                      : fmt::format("{} {} {};", value, assignment, other));
    }

    /// Adds the value that a lane of the first warp starts its second fold with. Where folding a
    /// value twice changes nothing, lanes beyond the number of warps keep what they have.
    void addWarpResult(CodeLines& lines, std::size_t i) const {
        const FoldedArray& folded = tree_.arrays[i];
        const bool needsNeutral = folded.fold == FoldKind::Sum ||
                                  folded.fold == FoldKind::Product ||
                                  folded.fold == FoldKind::BitXor;
        if (needsNeutral) {
            lines.add(fmt::format("{} = {} < blockDim.x / {} ? {}[{}] : {};", values_[i],
                                  tree_.thread, analysis::warpLanes, array(i), tree_.thread,
                                  neutral(i)));
            return;
        }
        lines.open(fmt::format("if ({} < blockDim.x / {})", tree_.thread, analysis::warpLanes));
        lines.add(fmt::format("{} = {}[{}];", values_[i], array(i), tree_.thread));
        lines.leave();
    }

    [[nodiscard]] std::string neutral(std::size_t i) const {
        const Type& type = body_.variable(tree_.arrays[i].array).type;
        const int digit = tree_.arrays[i].fold == FoldKind::Product ? 1 : 0;
        return type.scalar == ScalarKind::Unknown
                   ? fmt::format("decltype({})({})", values_[i], digit)
                   : literalOf(digit, type.scalar);
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    const TreeReduction& tree_;
    std::string offset_;
    std::optional<StoredValues> stored_;
    std::vector<std::string> values_; ///< Names of the registers, one per array.
};

} // namespace

std::vector<TextEdit> shuffleEdits(const SkillContext& context, const CodeMap& code,
                                   const TreeReduction& tree) {
    return Rewriter(context, code, tree).edits();
}

} // namespace kernelskill::skills
