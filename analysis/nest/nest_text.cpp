#include "analysis/nest/nest_text.h"

#include <algorithm>
#include <set>

namespace kernelskill::analysis {

namespace {

constexpr std::string_view axisLetters = "xyz";

std::string lineText(const SourceText* source, Span span) {
    return source == nullptr ? std::string()
                             : std::to_string(source->lineColumn(span.begin).line + 1);
}

std::string oneLine(std::string_view text) {
    std::string result;
    for (const char c : text) {
        const bool isSpace = c == ' ' || c == '\n' || c == '\t' || c == '\r';
        if (!isSpace)
            result += c;
        else if (!result.empty() && result.back() != ' ')
            result += ' ';
    }
    constexpr std::size_t longest = 76;
    return result.size() > longest ? result.substr(0, longest - 3) + "..." : result;
}

class NestWriter {
public:
    NestWriter(const Nest& nest, const FileModel& file, const KernelModel& kernel)
        : nest_(nest), file_(file), kernel_(kernel) {}

    std::string write() {
        text_ = "kernel " + nest_.kernel + "\n";
        writeDimensions();
        for (const auto& [name, value] : nest_.instantiation)
            text_ += "  with " + name + " = " + value + "\n";
        writeArrays();
        for (const NestNodeId root : nest_.roots)
            writeNode(root, 1);
        return text_;
    }

private:
    void writeDimensions() {
        std::string blocks;
        for (std::size_t axis = 0; axis < 3; ++axis)
            if (nest_.extents.block[axis])
                blocks +=
                    (blocks.empty() ? "" : " x ") + std::to_string(*nest_.extents.block[axis]);
        text_ += "  in parallel: blocks of gridDim, threads of blockDim";
        text_ += blocks.empty() ? "\n" : " (" + blocks + " as launched)\n";
    }

    void writeArrays() {
        std::set<NestArrayId> used;
        for (const NestAccess& access : nest_.accesses)
            if (access.node != noId && access.array != noId &&
                !nest_.arrays[access.array].isVariable)
                used.insert(access.array);
        for (const NestArrayId id : used) {
            const NestArray& array = nest_.arrays[id];
            text_ += "  " + std::string(spaceName(array.space)) + " " +
                     (array.isReadOnly ? "const " : "") + array.element + " " + array.name;
            for (const std::int64_t extent : array.extents)
                text_ += extent > 0 ? "[" + std::to_string(extent) + "]" : "[]";
            text_ += array.isRestrict ? " restrict\n" : "\n";
        }
    }

    void writeNode(NestNodeId id, std::size_t depth) {
        const NestNode& node = nest_.node(id);
        const KernelModel& function = functionOf(file_, kernel_, nest_.frames[node.frame]);
        const SourceText* source = function.file == file_.file ? file_.source.get() : nullptr;
        const std::string line = lineText(source, node.span);
        text_ += (line.size() < 4 ? std::string(4 - line.size(), ' ') : std::string()) + line +
                 std::string(2 * depth, ' ');
        if (const NestLoop* loop = node.loop())
            text_ += loopText(nest_, *loop) + "\n";
        else if (const NestGuard* guard = node.guard())
            text_ += std::string(guard->isExit ? "rest if " : "if ") +
                     nest_.symbols.describe(guard->condition) + "\n";
        else if (const NestBarrier* barrier = node.barrier())
            text_ += "---- " + std::string(barrierName(barrier->kind)) + " ----\n";
        else
            writeStatement(node, source, depth);
        for (const NestNodeId child : node.children)
            writeNode(child, depth + 1);
    }

    void writeStatement(const NestNode& node, const SourceText* source, std::size_t depth) {
        const NestStatement& statement = *node.computation();
        text_ += statement.kind == NestStatementKind::Test ? "test " : "";
        text_ += source != nullptr ? oneLine(source->slice(node.span)) : "statement";
        if (!statement.opaque.empty())
            text_ += "   OPAQUE: " + statement.opaque;
        text_ += "\n";
        const std::string indent(4 + 2 * depth + 4, ' ');
        const auto list = [&](std::string_view label, auto&& wanted) {
            std::string names;
            for (const NestAccessId id : statement.accesses) {
                const NestAccess& access = nest_.accesses[id];
                if (!wanted(access.kind))
                    continue;
                names += (names.empty() ? "" : ", ") + accessText(nest_, access);
                if (!access.condition.isAlways())
                    names += " if " + nest_.symbols.describe(access.condition);
                for (const NestCondition& assumption : access.assumptions)
                    names += " {needs " + nest_.symbols.describe(assumption) + "}";
                if (access.form == NestAccessForm::Indirect)
                    names += " (indirect)";
                if (access.form == NestAccessForm::Opaque)
                    names += " (OPAQUE: " + access.reason + ")";
            }
            if (!names.empty())
                text_ += indent + std::string(label) + " " + names + "\n";
        };
        list("reads", [](AccessKind kind) { return kind == AccessKind::Read; });
        list("updates", [](AccessKind kind) { return kind == AccessKind::ReadWrite; });
        list("adds atomically to", [](AccessKind kind) { return kind == AccessKind::Atomic; });
        list("writes", [](AccessKind kind) { return kind == AccessKind::Write; });
        if (!statement.reduction.empty())
            text_ += indent + "reduces by " + statement.reduction + "\n";
        if (!statement.exchange.empty())
            text_ += indent + "exchanges by " + statement.exchange + "\n";
    }

    const Nest& nest_;
    const FileModel& file_;
    const KernelModel& kernel_;
    std::string text_;
};

} // namespace

std::string_view styleName(NestLoopStyle style) {
    switch (style) {
    case NestLoopStyle::Serial:
        return "serial";
    case NestLoopStyle::GridStride:
        return "grid-stride";
    case NestLoopStyle::BlockStride:
        return "block-stride";
    case NestLoopStyle::BlocksOfGrid:
        return "blocks of the grid";
    case NestLoopStyle::WarpStride:
        return "warp-stride";
    }
    return {};
}

std::string_view formName(NestAccessForm form) {
    switch (form) {
    case NestAccessForm::Affine:
        return "affine";
    case NestAccessForm::Parametric:
        return "parametric";
    case NestAccessForm::Indirect:
        return "indirect";
    case NestAccessForm::Opaque:
        return "opaque";
    }
    return {};
}

std::string_view barrierName(BarrierKind kind) {
    switch (kind) {
    case BarrierKind::SyncThreads:
    case BarrierKind::SyncThreadsReduce:
        return "block barrier";
    case BarrierKind::SyncWarp:
        return "warp barrier";
    case BarrierKind::GroupSync:
        return "group barrier";
    case BarrierKind::GridSync:
        return "grid barrier";
    case BarrierKind::Fence:
        return "fence";
    }
    return {};
}

std::string_view spaceName(MemorySpace space) {
    switch (space) {
    case MemorySpace::Global:
        return "global";
    case MemorySpace::Shared:
        return "shared";
    case MemorySpace::Constant:
        return "constant";
    case MemorySpace::Local:
        return "local";
    case MemorySpace::Generic:
        return "somewhere";
    }
    return {};
}

std::string nestText(const Nest& nest, const FileModel& file, const KernelModel& kernel) {
    return NestWriter(nest, file, kernel).write();
}

std::string accessText(const Nest& nest, const NestAccess& access) {
    const std::string name = access.array == noId ? "?" : nest.arrays[access.array].name;
    if (access.array != noId && nest.arrays[access.array].isVariable)
        return name + access.field;
    if (!access.index)
        return name + "[?]" + access.field;
    std::string text = name;
    for (const NestSubscript& subscript : access.subscripts)
        text += "[" + nest.symbols.describe(subscript.index) + "]";
    return text + access.field;
}

std::string loopText(const Nest& nest, const NestLoop& loop) {
    const std::string iterator = nest.symbols.nameOf(loop.iterator);
    std::string text = "for " + iterator;
    const auto one = IndexExpression::constant(1);
    if (!loop.first || !loop.end) {
        text += loop.first ? " from " + nest.symbols.describe(*loop.first) : "";
        if (loop.end)
            text += std::string(loop.isDownward ? " while > " : " while < ") +
                    nest.symbols.describe(*loop.end);
        text += "   (" + loop.unknown + ")";
    } else if (loop.isDownward) {
        text += " = " + nest.symbols.describe(*loop.first) + " down to " +
                nest.symbols.describe(*loop.end + one);
    } else {
        text += " = " + nest.symbols.describe(*loop.first) + " .. " +
                nest.symbols.describe(*loop.end - one);
    }
    if (loop.step && loop.step->asConstant() != 1 && loop.step->asConstant() != -1)
        text += " step " + nest.symbols.describe(*loop.step);
    if (!loop.step && !loop.stepOperator.empty())
        text += " by " + loop.stepOperator;
    if (loop.style != NestLoopStyle::Serial) {
        text += "   " + std::string(styleName(loop.style));
        if (loop.style != NestLoopStyle::WarpStride)
            text += std::string(" ") + axisLetters[std::min<std::size_t>(loop.axis, 2)];
    }
    if (loop.mayStop)
        text += "   may stop early";
    return text;
}

} // namespace kernelskill::analysis
