#include "skills/atomics-privatization/privatization_edits.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/source_layout.h"
#include "analysis/queries/value_spelling.h"
#include "analysis/source/gpu_constants.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/grid_size.h"
#include "skills/editing/grid_stride_form.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isFloating(ScalarKind scalar) {
    return scalar == ScalarKind::Float || scalar == ScalarKind::Double;
}

/// "block" and "bins" as `blockBins`, or as `block_bins` where that is how the name is written.
std::string joinedName(std::string_view first, std::string name) {
    if (name.contains('_') || name.empty())
        return fmt::format("{}_{}", first, name);
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    return std::string(first) + name;
}

class Writer {
public:
    Writer(const SkillContext& context, const CodeMap& code, const ContendedUpdates& updates)
        : context_(context), code_(code), body_(code.body()), source_(*context.file.source),
          layout_(source_, context.kernel), updates_(updates),
          base_(body_.variable(updates.base).name),
          shared_(freshName(body_, joinedName("block", base_))),
          own_(freshName(body_, joinedName("thread", base_))) {}

    std::vector<TextEdit> edits() {
        if (updates_.elementwise) {
            edits_ = gridStrideEdits(context_, code_, *updates_.elementwise);
            for (const LaunchSite& launch : context_.kernel.launches)
                edits_.push_back(dividedGrid(context_, launch, elementsPerThread));
        } else if (updates_.earlyReturn) {
            edits_ = guardedBlock(context_, code_, *updates_.earlyReturn);
        }
        if (updates_.table)
            writeTable();
        else
            writeRegister();
        dropCovered();
        return std::move(edits_);
    }

private:
    [[nodiscard]] std::string indentation() const {
        return layout_.indentation(body_.stmt(updates_.sites.front().outermost).span.begin);
    }

    /// Whole lines at the start of the kernel.
    void insertAtBegin(const CodeLines& lines) {
        const std::uint32_t at = layout_.endOfLineTrivia(context_.kernel.bodySpan.begin + 1);
        std::string text = layout_.newline() + lines.text();
        text.resize(text.size() - layout_.newline().size());
        edits_.push_back({{at, at}, std::move(text)});
    }

    /// Whole lines that every thread reaches after `stmt`.
    void insertAfter(StmtId stmt, const CodeLines& lines) {
        const std::uint32_t close = layout_.lineBegin(context_.kernel.bodySpan.end - 1);
        if (updates_.earlyReturn) {
            edits_.push_back({{close, close}, lines.text()});
            return;
        }
        const std::uint32_t end = layout_.endOfLineTrivia(body_.stmt(stmt).span.end);
        std::string text = layout_.newline() + lines.text();
        text.resize(text.size() - layout_.newline().size());
        edits_.push_back({{end, end}, std::move(text)});
    }

    /// Whole lines before `stmt` and the comments over it.
    void insertBefore(StmtId stmt, const CodeLines& lines) {
        std::uint32_t line = source_.lineColumn(body_.stmt(stmt).span.begin).line;
        while (line > 0 && isComment(source_.line(line - 1)))
            --line;
        const std::uint32_t at = source_.lineSpan(line).begin;
        edits_.push_back({{at, at}, lines.text()});
    }

    static bool isComment(std::string_view line) {
        const auto first = line.find_first_not_of(" \t");
        return first != std::string_view::npos && line.substr(first).starts_with("//");
    }

    /// Indentation of lines that an edit replaces as a whole.
    void dropCovered() {
        std::vector<Span> replaced;
        for (const TextEdit& edit : edits_)
            if (!edit.span.empty())
                replaced.push_back(edit.span);
        std::erase_if(edits_, [&](const TextEdit& edit) {
            return edit.span.empty() && std::ranges::any_of(replaced, [&](Span span) {
                       return span.begin < edit.span.begin && edit.span.begin < span.end;
                   });
        });
    }

    [[nodiscard]] std::string firstThread() const {
        return updates_.isFlatBlock ? "threadIdx.x == 0"
                                    : "threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0";
    }

    // A table in shared memory.

    void writeTable() {
        for (const UpdateSite& site : updates_.sites)
            for (const ExprId below : code_.expressionsBelow(site.address))
                if (body_.expr(below).kind == ExprKind::Variable &&
                    body_.expr(below).variable == updates_.base)
                    edits_.push_back({body_.expr(below).span, shared_});
        CodeLines head(layout_, indentation());
        head.add(fmt::format("// Updates go to a table of the block, which is added to {} once.",
                             base_));
        head.add(fmt::format("__shared__ {} {}[{}];", updates_.element, shared_,
                             updates_.table->extent));
        openLoop(head);
        head.add(fmt::format("{}[{}] = 0;", shared_, entry_)).leave();
        head.add("__syncthreads();");
        insertAtBegin(head);

        CodeLines tail(layout_, indentation());
        tail.add("__syncthreads();");
        openLoop(tail);
        tail.open(fmt::format("if ({}[{}] != 0)", shared_, entry_));
        tail.add(
            fmt::format("{}(&{}[{}], {}[{}]);", updates_.function, base_, entry_, shared_, entry_));
        insertAfter(body_.stmt(body_.root).children.back(), tail);
    }

    void openLoop(CodeLines& lines) const {
        const std::string_view first =
            updates_.isFlatBlock
                ? "threadIdx.x"
                : "(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x";
        const std::string_view step =
            updates_.isFlatBlock ? "blockDim.x" : "blockDim.x * blockDim.y * blockDim.z";
        if (updates_.isFlatBlock) {
            lines.open(fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3})", entry_, first,
                                   updates_.table->limit, step));
            return;
        }
        lines.add(
            fmt::format("for (int {0} = {1}; {0} < {2};", entry_, first, updates_.table->limit));
        lines.open(fmt::format("     {} += {})", entry_, step));
    }

    // A value in a register of each thread, and one of the block.

    void writeRegister() {
        for (const UpdateSite& site : updates_.sites)
            replaceUpdate(site);
        const bool hasManyWarps = updates_.threads > analysis::warpLanes;
        CodeLines head(layout_, indentation());
        head.add(fmt::format("// Each thread gathers its own; one atomic a {} updates {}.",
                             hasManyWarps ? "block" : "warp", base_));
        if (hasManyWarps) {
            head.add(fmt::format("__shared__ {} {};", updates_.element, shared_));
            head.open(fmt::format("if ({})", firstThread()));
            head.add(fmt::format("{} = {};", shared_, neutral())).leave();
            head.add("__syncthreads();");
        }
        head.add(fmt::format("{} {} = {};", updates_.element, own_, neutral()));
        insertBefore(updates_.earlyReturn ? updates_.earlyReturn->guard
                                          : updates_.sites.front().outermost,
                     head);

        CodeLines tail(layout_, indentation());
        tail.open(fmt::format("for (int {0} = {1}; {0} > 0; {0} /= 2)", offset_,
                              analysis::warpLanes / 2));
        tail.add(folded(own_, fmt::format("__shfl_down_sync(0xffffffff, {}, {})", own_, offset_)))
            .leave();
        const std::string address = text(updates_.sites.front().address);
        const std::string lane = fmt::format("threadIdx.x % {} == 0", analysis::warpLanes);
        if (hasManyWarps) {
            tail.open(fmt::format("if ({})", lane));
            tail.add(fmt::format("{}(&{}, {});", updates_.function, shared_, own_)).leave();
            tail.add("__syncthreads();");
            tail.open(fmt::format("if ({}{})", firstThread(), unlessNothing(shared_)));
            tail.add(fmt::format("{}({}, {});", updates_.function, address, shared_));
        } else {
            tail.open(fmt::format("if ({}{})", lane, unlessNothing(own_)));
            tail.add(fmt::format("{}({}, {});", updates_.function, address, own_));
        }
        insertAfter(updates_.sites.back().outermost, tail);
    }

    [[nodiscard]] std::string unlessNothing(const std::string& value) const {
        return updates_.mayTouchNothing ? fmt::format(" && {} != {}", value, neutral()) : "";
    }

    void replaceUpdate(const UpdateSite& site) {
        const Span call = body_.expr(site.call).span;
        const Span value = body_.expr(site.value).span;
        const bool isSum = updates_.operation == UpdateOperation::Sum;
        const std::string cast = conversion(site.value);
        const std::string closing = cast.empty() ? "" : ")";
        if (isSum || updates_.operation == UpdateOperation::BitOr ||
            updates_.operation == UpdateOperation::BitAnd ||
            updates_.operation == UpdateOperation::BitXor) {
            edits_.push_back(
                {{call.begin, value.begin}, fmt::format("{} {} {}", own_, assignment(), cast)});
            edits_.push_back({{value.end, call.end}, closing});
            return;
        }
        edits_.push_back(
            {{call.begin, value.begin}, fmt::format("{0} = {1}({0}, {2}", own_, function(), cast)});
        edits_.push_back({{value.end, call.end}, closing + ")"});
    }

    /// The conversion that the atomic's parameter did to the value, where the variable alone would
    /// not.
    [[nodiscard]] std::string conversion(ExprId value) const {
        const Type& type = body_.expr(value).type;
        const bool isSame = type.scalar == updates_.scalar;
        const bool isAssigned = assignment() != "";
        const bool isHarmless = isAssigned && !isFloating(type.scalar) && type.pointerDepth == 0 &&
                                type.scalar != ScalarKind::Unknown;
        return isSame || isHarmless ? "" : fmt::format("static_cast<{}>(", updates_.element);
    }

    [[nodiscard]] std::string_view assignment() const {
        switch (updates_.operation) {
        case UpdateOperation::Sum:
            return "+=";
        case UpdateOperation::BitAnd:
            return "&=";
        case UpdateOperation::BitOr:
            return "|=";
        case UpdateOperation::BitXor:
            return "^=";
        default:
            return "";
        }
    }

    [[nodiscard]] std::string_view function() const {
        return updates_.operation == UpdateOperation::Minimum ? "min" : "max";
    }

    [[nodiscard]] std::string folded(const std::string& value, const std::string& other) const {
        if (!assignment().empty())
            return fmt::format("{} {} {};", value, assignment(), other);
        return fmt::format("{0} = {1}({0}, {2});", value, function(), other);
    }

    [[nodiscard]] std::string neutral() const {
        switch (updates_.operation) {
        case UpdateOperation::Minimum:
            return largestValue();
        case UpdateOperation::Maximum:
            return smallestValue();
        case UpdateOperation::BitAnd:
            return fmt::format("static_cast<{}>(-1)", updates_.element);
        default:
            return literalOf(0, updates_.scalar);
        }
    }

    [[nodiscard]] std::string largestValue() const {
        switch (updates_.scalar) {
        case ScalarKind::Int32:
            return "0x7fffffff";
        case ScalarKind::UInt32:
            return "0xffffffffu";
        case ScalarKind::Int64:
            return "0x7fffffffffffffffll";
        default:
            return "0xffffffffffffffffull";
        }
    }

    [[nodiscard]] std::string smallestValue() const {
        switch (updates_.scalar) {
        case ScalarKind::Int32:
            return "-0x7fffffff - 1";
        case ScalarKind::Int64:
            return "-0x7fffffffffffffffll - 1";
        default:
            return "0";
        }
    }

    [[nodiscard]] std::string text(ExprId expr) const {
        return std::string(source_.slice(body_.expr(expr).span));
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    const ContendedUpdates& updates_;
    std::string base_;
    std::string shared_; ///< Name of the block's copy.
    std::string own_;    ///< Name of a thread's copy.
    std::string entry_ = freshName(body_, "entry");
    std::string offset_ = freshName(body_, "offset");
    std::vector<TextEdit> edits_;
};

} // namespace

std::vector<TextEdit> privatizationEdits(const SkillContext& context, const CodeMap& code,
                                         const ContendedUpdates& updates) {
    return Writer(context, code, updates).edits();
}

} // namespace kernelskill::skills
