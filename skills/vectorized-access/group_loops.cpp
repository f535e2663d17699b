#include "skills/vectorized-access/group_loops.h"

#include "analysis/queries/source_layout.h"
#include "analysis/queries/value_spelling.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/operand_text.h"
#include "skills/editing/vector_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class Writer {
public:
    explicit Writer(const SkillContext& context)
        : code_(context.code()), body_(code_.body()), source_(*context.file.source),
          layout_(source_, context.kernel) {}

    std::vector<TextEdit> edits(const std::vector<WalksOfOneGuard>& sets) {
        for (const WalksOfOneGuard& set : sets) {
            aligned_ = fresh("aligned");
            groups_ = fresh("groups");
            group_ = freshName(body_, "group");
            for (const SharedWalk& walk : set)
                addWalk(walk, &walk == &set.front() ? &set : nullptr);
        }
        return std::move(edits_);
    }

private:
    /// A name that neither the kernel nor another set has.
    [[nodiscard]] std::string fresh(const std::string& wanted) {
        std::string name = freshName(body_, wanted);
        for (int number = 2; std::ranges::find(taken_, name) != taken_.end(); ++number)
            name = freshName(body_, fmt::format("{}{}", wanted, number));
        taken_.push_back(name);
        return name;
    }

    [[nodiscard]] std::string text(ExprId expr) const {
        return std::string(source_.slice(body_.expr(expr).span));
    }

    [[nodiscard]] static std::string addressOf(const SharedWalk& walk,
                                               const WalkedElements& elements) {
        return walk.first.empty() ? elements.address
                                  : fmt::format("{} + {}", elements.address, walk.first);
    }

    void addWalk(const SharedWalk& walk, const WalksOfOneGuard* guarded) {
        const Stmt& stmt = body_.stmt(walk.statement);
        const std::uint32_t begin = beginWithPragma(stmt);
        const std::string indentation = layout_.indentation(stmt.span.begin);
        CodeLines lines(layout_, indentation);
        if (guarded != nullptr)
            addGuard(lines, *guarded, indentation.size());
        if (walk.syncsBefore)
            lines.add("__syncwarp();");
        addGroupLoop(lines, walk);
        const bool isSet = walk.form.counted.start == noId;
        if (isSet)
            lines.add(fmt::format("{} += {} * {};", body_.variable(walk.form.index).name,
                                  walk.group, groups_));
        const std::uint32_t lineBegin = layout_.lineBegin(begin);
        edits_.push_back({{lineBegin, lineBegin}, lines.text()});
        if (!isSet) {
            const Span start = body_.expr(walk.form.counted.start).span;
            if (walk.takesFirstAgain)
                edits_.push_back(
                    {start, fmt::format("{} * {} + {}", walk.group, groups_, walk.thread)});
            else
                edits_.push_back(
                    {start,
                     fmt::format("{} * {} + {}", walk.group, groups_,
                                 besideComparison(source_, body_.expr(walk.form.counted.start)))});
        }
        if (walk.syncsAfter) {
            const std::uint32_t end = layout_.endOfLineTrivia(stmt.span.end);
            edits_.push_back({{end, end}, layout_.newline() + indentation + "__syncwarp();"});
        }
    }

    /// Writes the number of groups: none if an address is not a multiple of its vector.
    void addGuard(CodeLines& lines, const WalksOfOneGuard& set, std::size_t indentation) const {
        const SharedWalk& first = set.front();
        std::vector<VectorAddress> addresses;
        std::uint32_t widest = 0;
        for (const SharedWalk& walk : set)
            for (const WalkedElements& elements : walk.elements) {
                const VectorAddress address{addressOf(walk, elements), elements.bytes};
                widest = std::max(widest, elements.bytes);
                if (std::ranges::none_of(addresses, [&](const VectorAddress& other) {
                        return other.text == address.text && other.bytes == address.bytes;
                    }))
                    addresses.push_back(address);
            }
        lines.add(fmt::format("// Groups of {} elements first, one access of up to {} bytes each, "
                              "where the addresses allow it.",
                              first.group, widest));
        const Expr& limit = body_.expr(first.form.counted.limit);
        const bool readsAddress = std::ranges::any_of(set, [](const SharedWalk& walk) {
            return std::ranges::any_of(walk.elements, &WalkedElements::isReadFromMemory);
        });
        addCondition(lines, layout_, aligned_,
                     (readsAddress ? fmt::format("{} < {} && ", first.thread,
                                                 besideComparison(source_, limit))
                                   : std::string()) +
                         alignmentCondition(addresses),
                     indentation);
        const std::string count =
            first.first.empty() ? fmt::format("{} / {}", besideProduct(source_, limit), first.group)
                                : fmt::format("({} - {}) / {}", besideComparison(source_, limit),
                                              bracketed(first.first), first.group);
        const std::string condition = first.first.empty()
                                          ? aligned_
                                          : fmt::format("{} && {} < {}", aligned_, first.first,
                                                        besideComparison(source_, limit));
        lines.add(
            fmt::format("const {} {} = {} ? {} : 0;", typeOf(first), groups_, condition, count));
    }

    [[nodiscard]] static std::string bracketed(const std::string& sum) {
        return sum.contains(' ') ? "(" + sum + ")" : sum;
    }

    [[nodiscard]] std::string typeOf(const SharedWalk& walk) const {
        return valueSpelling(body_.variable(walk.form.index).type);
    }

    void addGroupLoop(CodeLines& lines, const SharedWalk& walk) const {
        const ExprId step = walk.form.counted.step;
        lines.open(fmt::format(
            "for ({0} {1} = {2}; {1} < {3}; {4}) {{", typeOf(walk), group_, walk.thread, groups_,
            step == noId ? "++" + group_ : fmt::format("{} += {}", group_, text(step))));
        for (const WalkedElements& elements : walk.elements) {
            if (elements.isRead)
                lines.add(fmt::format("{}{} {} = reinterpret_cast<const {}*>({})[{}];",
                                      elements.isWritten ? "" : "const ", elements.type,
                                      elements.vector, elements.type, addressOf(walk, elements),
                                      group_));
            else
                lines.add(fmt::format("{} {};", elements.type, elements.vector));
        }
        for (int lane = 0; lane < walk.group; ++lane)
            addElementWork(lines, walk, lane);
        std::vector<const WalkedElements*> written;
        for (const WalkedElements& elements : walk.elements)
            if (elements.isWritten)
                written.push_back(&elements);
        std::ranges::stable_sort(written, {}, &WalkedElements::lastWrite);
        for (const WalkedElements* elements : written)
            lines.add(fmt::format("reinterpret_cast<{}*>({})[{}] = {};", elements->type,
                                  addressOf(walk, *elements), group_, elements->vector));
        lines.close();
    }

    /// The statements of a round for one element of the group; in a block of their own when they
    /// declare something.
    void addElementWork(CodeLines& lines, const SharedWalk& walk, int lane) const {
        const bool declares = std::ranges::any_of(
            walk.work, [&](StmtId id) { return body_.stmt(id).kind == StmtKind::Declaration; });
        if (declares)
            lines.open("{");
        for (const StmtId id : walk.work) {
            const Span span = body_.stmt(id).span;
            lines.addBlock(rewritten(source_, span, substitutions(walk, span, lane)),
                           layout_.indentation(span.begin));
        }
        if (declares)
            lines.close();
    }

    [[nodiscard]] std::vector<TextEdit> substitutions(const SharedWalk& walk, Span span,
                                                      int lane) const {
        std::vector<TextEdit> parts;
        for (const WalkedAccess& access : walk.accesses) {
            const Span at = body_.expr(access.replaced).span;
            if (span.contains(at))
                parts.push_back(
                    {at, fmt::format("{}.{}", walk.elements[access.elements].vector,
                                     vectorComponents[static_cast<std::size_t>(lane)])});
        }
        const std::size_t accessParts = parts.size();
        for (const ExprId use : code_.uses(walk.form.index)) {
            const Span at = body_.expr(use).span;
            const bool isReplaced =
                std::any_of(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(accessParts),
                            [&](const TextEdit& part) { return part.span.contains(at); });
            if (!span.contains(at) || isReplaced)
                continue;
            const std::string index =
                fmt::format("{}{} * {}{}", walk.first.empty() ? "" : walk.first + " + ", walk.group,
                            group_, lane == 0 ? "" : fmt::format(" + {}", lane));
            parts.push_back({at, standsAlone(code_, use) ? index : "(" + index + ")"});
        }
        return parts;
    }

    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    std::vector<TextEdit> edits_;
    std::vector<std::string> taken_;
    std::string aligned_;
    std::string groups_;
    std::string group_;
};

} // namespace

std::vector<TextEdit> groupLoopEdits(const SkillContext& context,
                                     const std::vector<WalksOfOneGuard>& sets) {
    return Writer(context).edits(sets);
}

} // namespace kernelskill::skills
