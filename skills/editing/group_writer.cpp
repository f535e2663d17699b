#include "skills/editing/group_writer.h"

#include "analysis/queries/source_layout.h"
#include "skills/editing/grid_size.h"
#include "skills/editing/vector_text.h"
#include "skills/gates/elementwise_kernel.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class Writer {
public:
    Writer(const SkillContext& context, const CodeMap& code, const ElementGroups& plan,
           const GroupWork& work)
        : context_(context), code_(code), plan_(plan), work_(work), source_(*context.file.source),
          layout_(source_, context.kernel), index_(code.body().variable(plan.index).name),
          limit_(source_.slice(code.body().expr(plan.limit).span)) {
        const Expr& limit = code.body().expr(plan.limit);
        const bool isCompound =
            limit.kind == ExprKind::Binary || limit.kind == ExprKind::Conditional;
        groups_ = fmt::format("{} / {}", isCompound ? "(" + limit_ + ")" : limit_, plan.lanes);
    }

    std::vector<TextEdit> edits() {
        std::vector<TextEdit> edits = plan_.isGridStride ? gridStride() : guarded();
        if (!plan_.isGridStride)
            for (const LaunchSite& launch : context_.kernel.launches)
                edits.push_back(dividedGrid(context_, launch, plan_.lanes));
        return edits;
    }

private:
    /// Declares `aligned`: whether every stream starts at a multiple of its vector.
    [[nodiscard]] std::string alignmentCheck(const std::string& name) const {
        std::vector<VectorAddress> addresses;
        for (const Stream& stream : plan_.streams)
            addresses.push_back({stream.name, stream.bytes});
        return fmt::format("const bool {} = {};", name, alignmentCondition(addresses));
    }

    /// The work on one vector, `index_` counting vectors.
    void addVectorWork(CodeLines& lines) const {
        for (const Stream& stream : plan_.streams) {
            if (stream.isRead)
                lines.add(fmt::format("{}{} {} = reinterpret_cast<const {}*>({})[{}];",
                                      stream.isWritten && stream.pairs.empty() ? "" : "const ",
                                      stream.type, stream.vector, stream.type, stream.name,
                                      index_));
            else if (stream.pairs.empty())
                lines.add(fmt::format("{} {};", stream.type, stream.vector));
            addPairs(lines, stream);
        }
        if (work_)
            work_(lines);
        else
            for (int lane = 0; lane < plan_.lanes; ++lane)
                addElementWork(lines, lane);
        std::vector<const Stream*> written;
        for (const Stream& stream : plan_.streams)
            if (stream.isWritten)
                written.push_back(&stream);
        std::ranges::stable_sort(written, {}, &Stream::lastWrite);
        for (const Stream* stream : written)
            lines.add(fmt::format("reinterpret_cast<{}*>({})[{}] = {};", stream->type, stream->name,
                                  index_, stored(*stream)));
    }

    /// The elements of a vector of pairs.
    static void addPairs(CodeLines& lines, const Stream& stream) {
        for (std::size_t lane = 0; lane < stream.pairs.size(); ++lane) {
            const std::string value =
                stream.isRead ? fmt::format(" = make_{}({}.{}, {}.{})", stream.pairType,
                                            stream.vector, vectorComponents[2 * lane],
                                            stream.vector, vectorComponents[2 * lane + 1])
                              : "";
            lines.add(fmt::format("{}{} {}{};", stream.isWritten ? "" : "const ", stream.pairType,
                                  stream.pairs[lane], value));
        }
    }

    /// The vector that is stored.
    static std::string stored(const Stream& stream) {
        if (stream.pairs.empty())
            return stream.vector;
        std::string components;
        for (const std::string& pair : stream.pairs)
            components += fmt::format("{}{}.x, {}.y", components.empty() ? "" : ", ", pair, pair);
        return fmt::format("make_{}({})", stream.type, components);
    }

    /// An element of a group, by its place there.
    static std::string element(const Stream& stream, int lane) {
        const auto place = static_cast<std::size_t>(lane);
        return stream.pairs.empty() ? fmt::format("{}.{}", stream.vector, vectorComponents[place])
                                    : stream.pairs[place];
    }

    /// The statements of the work for one element of the vector; in a block of their own when they
    /// declare something.
    void addElementWork(CodeLines& lines, int lane) const {
        const FunctionBody& body = code_.body();
        const bool declares = std::ranges::any_of(
            plan_.work, [&](StmtId id) { return body.stmt(id).kind == StmtKind::Declaration; });
        if (declares)
            lines.open("{");
        for (const StmtId id : plan_.work) {
            const Span span = body.stmt(id).span;
            lines.addBlock(rewritten(source_, span, substitutions(span, lane)),
                           layout_.indentation(span.begin));
        }
        if (declares)
            lines.close();
    }

    [[nodiscard]] std::vector<TextEdit> substitutions(Span span, int lane) const {
        const FunctionBody& body = code_.body();
        std::vector<TextEdit> parts;
        for (const ElementAccess& access : plan_.accesses) {
            const Span at = body.expr(access.expression).span;
            if (span.contains(at))
                parts.push_back({at, element(plan_.streams[access.stream], lane)});
        }
        const std::size_t accessParts = parts.size();
        for (const ExprId use : code_.uses(plan_.index)) {
            const Span at = body.expr(use).span;
            const bool isReplaced =
                std::any_of(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(accessParts),
                            [&](const TextEdit& part) { return part.span.contains(at); });
            if (!span.contains(at) || isReplaced)
                continue;
            const std::string element =
                lane == 0 ? fmt::format("{} * {}", plan_.lanes, index_)
                          : fmt::format("{} * {} + {}", plan_.lanes, index_, lane);
            const ExprId parent = code_.parent(use);
            const bool standsAlone =
                parent == noId || (body.expr(parent).kind == ExprKind::Subscript &&
                                   body.expr(parent).children[1] == use);
            parts.push_back({at, standsAlone ? element : "(" + element + ")"});
        }
        return parts;
    }

    /// The original work with the index under another name.
    void addScalarWork(CodeLines& lines, const std::string& element) const {
        const FunctionBody& body = code_.body();
        for (const StmtId id : plan_.work) {
            const Span span = body.stmt(id).span;
            std::vector<TextEdit> parts;
            for (const ExprId use : code_.uses(plan_.index))
                if (span.contains(body.expr(use).span))
                    parts.push_back({body.expr(use).span, element});
            lines.addBlock(rewritten(source_, span, std::move(parts)),
                           layout_.indentation(span.begin));
        }
    }

    [[nodiscard]] std::vector<TextEdit> guarded() const {
        const FunctionBody& body = code_.body();
        const Stmt& guard = body.stmt(plan_.guarded.guard);
        const bool isReturn = plan_.guarded.form == ElementwiseForm::EarlyReturn;
        const Span replaced{guard.span.begin,
                            isReturn ? body.stmt(plan_.work.back()).span.end : guard.span.end};
        const std::string aligned = freshName(body, "aligned");
        const std::string element = freshName(body, "k");
        const std::string type = body.variable(plan_.index).type.spelling.starts_with("const ")
                                     ? body.variable(plan_.index).type.spelling.substr(6)
                                     : body.variable(plan_.index).type.spelling;
        CodeLines lines(layout_, layout_.indentation(guard.span.begin));
        for (const std::string& comment : commentsIn(source_, replaced))
            lines.add(comment);
        lines.add(
            fmt::format("// {} counts groups of {} elements: one access of up to {} bytes each, "
                        "where the pointers allow it.",
                        index_, plan_.lanes, widest()));
        lines.add(alignmentCheck(aligned));
        lines.open(fmt::format("if ({} && {} < {}) {{", aligned, index_, groups_));
        addVectorWork(lines);
        lines.close(fmt::format("}} else if ({} <= {}) {{", index_, groups_));
        const bool needsBraces = plan_.work.size() > 1;
        lines.open(
            fmt::format("for ({0} {1} = {2} * {3}; {1} < {4} && {1} - {2} * {3} < {2}; ++{1}){5}",
                        type, element, plan_.lanes, index_, limit_, needsBraces ? " {" : ""));
        addScalarWork(lines, element);
        if (needsBraces)
            lines.close();
        else
            lines.leave();
        lines.close();
        std::string text = lines.text();
        text.resize(text.size() - layout_.newline().size());
        text.erase(0, layout_.indentation(guard.span.begin).size());
        return {{replaced, std::move(text)}};
    }

    [[nodiscard]] std::vector<TextEdit> gridStride() const {
        const FunctionBody& body = code_.body();
        const Stmt& loop = body.stmt(plan_.loop);
        const Variable& index = body.variable(plan_.index);
        const std::string aligned = freshName(body, "aligned");
        const std::string groups = freshName(body, "groups");
        const std::string start{source_.slice(body.expr(index.init).span)};
        const std::string indentation = layout_.indentation(loop.span.begin);
        const std::string type = index.type.spelling;
        CodeLines lines(layout_, indentation);
        lines.add(
            fmt::format("// Groups of {} elements first, one access of up to {} bytes each, where "
                        "the pointers allow it.",
                        plan_.lanes, widest()));
        lines.add(alignmentCheck(aligned));
        lines.add(fmt::format("const {} {} = {} ? {} : 0;", type, groups, aligned, groups_));
        lines.open(fmt::format("for ({} {} = {}; {} < {}; {}) {{", type, index_, start, index_,
                               groups, source_.slice(body.expr(loop.increment).span)));
        addVectorWork(lines);
        lines.close();
        const std::uint32_t init = body.expr(index.init).span.begin;
        std::string text = lines.text();
        std::uint32_t begin = beginWithPragma(loop);
        if (loop.pragma.empty()) { // The loop may share its line; a pragma has one of its own.
            text += indentation;
            text.erase(0, indentation.size());
        } else {
            begin = layout_.lineBegin(begin);
        }
        return {{{begin, begin}, std::move(text)},
                {{init, init}, fmt::format("{} * {} + ", plan_.lanes, groups)}};
    }

    [[nodiscard]] std::uint32_t widest() const {
        return std::ranges::max(plan_.streams, {}, &Stream::bytes).bytes;
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const ElementGroups& plan_;
    const GroupWork& work_;
    const SourceText& source_;
    SourceLayout layout_;
    std::string index_;
    std::string limit_;
    std::string groups_;
};

} // namespace

Span groupedSpan(const CodeMap& code, const ElementGroups& groups) {
    return code.body().stmt(groups.isGridStride ? groups.loop : groups.guarded.guard).span;
}

std::string launchConsequence(const SkillContext& context, const ElementGroups& groups) {
    if (groups.isGridStride)
        return "the grid may stay as it is";
    const bool isOne = context.kernel.launches.size() == 1;
    return fmt::format("{} launch{} follow{} with a grid {} times smaller",
                       context.kernel.launches.size(), isOne ? "" : "es", isOne ? "s" : "",
                       groups.lanes);
}

std::vector<TextEdit> groupEdits(const SkillContext& context, const CodeMap& code,
                                 const ElementGroups& groups, const GroupWork& work) {
    return Writer(context, code, groups, work).edits();
}

} // namespace kernelskill::skills
