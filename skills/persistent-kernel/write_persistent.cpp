#include "analysis/queries/code_map.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/queries/source_words.h"
#include "skills/editing/block_count.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/operand_text.h"
#include "skills/persistent-kernel/persist.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class PersistentWriter {
public:
    PersistentWriter(Draft& draft, const SkillContext& context, const PersistentBlocks& found)
        : draft_(draft), context_(context), kernel_(context.kernel), body_(kernel_.body),
          source_(*context.file.source), layout_(draft.layout()), found_(found),
          block_(freshName(body_, "block")), blocks_(freshName(body_, "blocks")),
          helper_(kernel_.name.contains('_') ? "resident_blocks" : "residentBlocks") {}

    void write() {
        for (const TextEdit& edit : passedBlockCounts(context_, {{0, blocks_}}))
            draft_.replace(edit.span, edit.newText);
        writeRounds();
        for (const StmtId id : found_.returns)
            draft_.replace(body_.stmt(id).span, "continue;");
        for (const ExprId id : found_.blocks)
            if (!isMoved(body_.expr(id).span))
                draft_.replace(body_.expr(id).span, block_);
        writeHelper();
        for (const LaunchSite& launch : kernel_.launches)
            writeLaunch(launch);
    }

private:
    [[nodiscard]] bool isMoved(Span span) const {
        return std::ranges::any_of(found_.moved,
                                   [&](StmtId id) { return body_.stmt(id).span.contains(span); });
    }

    void writeRounds() {
        const StmtId last = found_.setUp.back();
        const Span lastSpan = body_.stmt(last).span;
        const std::string indentation = layout_.indentation(lastSpan.begin);
        const std::string& newline = layout_.newline();
        std::string head = fmt::format("{}for (unsigned int {} = blockIdx.x; {} < {}; {} += "
                                       "gridDim.x) {{{}",
                                       indentation, block_, block_, blocks_, block_, newline);
        if (found_.needsBarrier)
            head += indentation + layout_.unit() +
                    (found_.barrier == noId ? "__syncthreads();"
                                            : std::string(source_.slice(lastSpan))) +
                    newline;
        for (const StmtId id : found_.moved) {
            const Span lines = layout_.statementWithLine(body_.stmt(id).span);
            head += deeper(rewritten(source_, lines, positionsIn(lines)));
            draft_.replace(lines, {});
        }
        if (found_.barrier == noId)
            draft_.insertAfter(last, head);
        else
            draft_.replace(layout_.statementWithLine(lastSpan), head);
        const StmtId end = body_.stmt(body_.root).children.back();
        draft_.indent({lastSpan.end, body_.stmt(end).span.end});
        draft_.insertAfter(end, indentation + "}" + newline);
    }

    [[nodiscard]] std::vector<TextEdit> positionsIn(Span span) const {
        std::vector<TextEdit> parts;
        for (const ExprId id : found_.blocks)
            if (span.contains(body_.expr(id).span))
                parts.push_back({body_.expr(id).span, block_});
        return parts;
    }

    /// Whole lines, one level deeper.
    [[nodiscard]] std::string deeper(const std::string& lines) const {
        std::string text;
        for (std::size_t at = 0; at < lines.size();) {
            const auto newline = lines.find('\n', at);
            const std::size_t end = newline == std::string::npos ? lines.size() : newline + 1;
            text += layout_.unit() + lines.substr(at, end - at);
            at = end;
        }
        return text;
    }

    /// Behind the kernel, unless an earlier edit has put it there.
    void writeHelper() {
        const std::string head = fmt::format("unsigned int {}(Kernel kernel", helper_);
        if (source_.text().contains(head))
            return;
        for (int number = 2; !occurrences(source_.text(), helper_).empty(); ++number)
            helper_ = fmt::format("residentBlocks{}", number);
        const std::string indentation = layout_.indentation(kernel_.span.begin);
        CodeLines lines(layout_, indentation);
        lines.add("")
            .add("// How many blocks the GPU holds at once, but at most `blocks`.")
            .add("template <typename Kernel>")
            .open(fmt::format("static unsigned int {}(Kernel kernel, unsigned int blocks, int "
                              "threads, size_t shared) {{",
                              helper_))
            .add("int device, multiprocessors, residents;")
            .add("cudaGetDevice(&device);")
            .add(
                "cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);")
            .add("cudaOccupancyMaxActiveBlocksPerMultiprocessor(&residents, kernel, threads, "
                 "shared);")
            .add("const unsigned int all = multiprocessors * residents;")
            .add("return min(blocks, all);")
            .close();
        const std::uint32_t at = layout_.lineAfter(kernel_.span.end);
        draft_.replace({at, at}, lines.text());
    }

    void writeLaunch(const LaunchSite& launch) {
        const FunctionBody& host = context_.file.hostFunctions[launch.host].body;
        std::string name(source_.slice({launch.span.begin, launch.configurationSpan.begin}));
        name.resize(name.find_last_not_of(" \t\r\n") + 1);
        const Expr& grid = host.expr(launch.grid);
        const bool isList = grid.kind == ExprKind::InitList;
        const Expr& extent = isList ? host.expr(grid.children[0]) : grid;
        const std::string blocks = blocksText(context_, launch, 0);
        const std::string shared(
            launch.sharedBytes == noId ? "0" : source_.slice(host.expr(launch.sharedBytes).span));
        draft_.replace(extent.span, fmt::format("{}({}, {}, {}, {})", helper_, name, blocks,
                                                threadsOf(host, launch), shared));
    }

    [[nodiscard]] std::string threadsOf(const FunctionBody& host, const LaunchSite& launch) const {
        const Expr& block = host.expr(launch.block);
        const std::string text(source_.slice(block.span));
        if (isDim3Name(block))
            return fmt::format("{0}.x * {0}.y * {0}.z", text);
        if (block.kind != ExprKind::InitList)
            return text;
        std::vector<std::string> extents;
        for (const ExprId extent : block.children)
            extents.push_back(besideProduct(source_, host.expr(extent)));
        return fmt::format("{}", fmt::join(extents, " * "));
    }

    Draft& draft_;
    const SkillContext& context_;
    const KernelModel& kernel_;
    const FunctionBody& body_;
    const SourceText& source_;
    const SourceLayout& layout_;
    const PersistentBlocks& found_;
    std::string block_;
    std::string blocks_;
    std::string helper_;
};

} // namespace

void persist(Draft& draft, const SkillContext& context, const PersistentBlocks& found) {
    PersistentWriter(draft, context, found).write();
}

} // namespace kernelskill::skills
