#include "skills/vectorized-access/neighbour_writer.h"

#include "analysis/queries/source_layout.h"
#include "analysis/queries/value_spelling.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/grid_size.h"
#include "skills/editing/operand_text.h"
#include "skills/editing/vector_text.h"
#include "skills/schedule/term_loop.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class NeighbourWriter {
public:
    NeighbourWriter(const SkillContext& context, const NeighbourGroups& groups)
        : context_(context), code_(context.code()), body_(code_.body()),
          source_(*context.file.source), layout_(source_, context.kernel), groups_(groups),
          index_(body_.variable(groups.guard.index).name),
          first_(groups.guard.isLoop ? freshName(body_, "first") : index_) {
        copied_ = groups.outer;
        const ElementSteps steps(context, groups.guard.index);
        for (const StmtId id : groups.guard.work) {
            const Stmt& stmt = body_.stmt(id);
            const bool isForAll = std::ranges::find(groups.head, id) != groups.head.end() &&
                                  std::ranges::none_of(steps.namedBy(id), [&](VariableId named) {
                                      return steps.followsIndex(named);
                                  });
            if (!isForAll && stmt.kind != StmtKind::Null)
                copied_.push_back(id);
        }
        findUnused(steps);
    }

    [[nodiscard]] std::vector<TextEdit> edits() const {
        std::vector<TextEdit> edits{groups_.guard.isLoop ? dividedLimit() : scaledIndex(),
                                    replacedWork()};
        if (!groups_.dividesGrids)
            return edits;
        for (const LaunchSite& launch : context_.kernel.launches)
            edits.push_back(dividedGrid(context_, launch, groups_.moved.lanes));
        return edits;
    }

private:
    [[nodiscard]] std::string text(Span span) const { return std::string(source_.slice(span)); }
    [[nodiscard]] std::string text(ExprId expr) const { return text(body_.expr(expr).span); }

    /// Finds the declarations of which a vector's elements need none: what they declare is used for
    /// addresses alone, or is the same for the whole group and known already.
    void findUnused(const ElementSteps& steps) {
        const auto isPlain = [&](VariableId named) {
            const auto definitions = steps.definitionsOf(named);
            return std::ranges::all_of(
                definitions, [&](ExprId definition) { return isPure(context_, definition); });
        };
        for (const StmtId id : copied_) {
            const auto named = steps.namedBy(id);
            if (!named.empty() && std::ranges::all_of(named, isPlain))
                unused_.push_back(id);
        }
        const auto isUnused = [&](StmtId id) {
            return std::ranges::find(unused_, id) != unused_.end();
        };
        const auto isUsed = [&](StmtId id) {
            return std::ranges::any_of(steps.namedBy(id), [&](VariableId named) {
                return std::ranges::any_of(code_.uses(named), [&](ExprId use) {
                    return isCopied(use) && !isReplaced(use) && !isUnused(code_.statement(use));
                });
            });
        };
        while (std::erase_if(unused_, isUsed) > 0) {
        }
        for (const StmtId id : copied_)
            if (!isUnused(id) && isKnownForAll(steps, id))
                unused_.push_back(id);
    }

    /// Whether the declaration stands before the vectors and declares what all of a group have in
    /// common.
    [[nodiscard]] bool isKnownForAll(const ElementSteps& steps, StmtId id) const {
        const auto isIn = [&](const std::vector<StmtId>& statements) {
            return std::ranges::find(statements, id) != statements.end();
        };
        return (isIn(groups_.head) || isIn(groups_.outer)) &&
               std::ranges::all_of(steps.namedBy(id), [&](VariableId named) {
                   std::vector<ExprId> lengths = groups_.rowLengths;
                   for (const ExprId definition : steps.definitionsOf(named))
                       steps.addRowLengths(definition, lengths);
                   return steps.ofVariable(named) == Step::None &&
                          lengths.size() == groups_.rowLengths.size();
               });
    }

    [[nodiscard]] bool isCopied(ExprId use) const {
        return std::ranges::any_of(copied_, [&](StmtId id) { return code_.holds(id, use); });
    }

    [[nodiscard]] bool isReplaced(ExprId use) const {
        return std::ranges::any_of(groups_.moved.accesses, [&](const NeighbourAccess& access) {
            return body_.expr(access.replaced).span.contains(body_.expr(use).span);
        });
    }

    /// The index of the group's first element: as many as the group has to a thread.
    [[nodiscard]] TextEdit scaledIndex() const {
        const Expr& init = body_.expr(body_.variable(groups_.guard.index).init);
        const std::string operand =
            init.fromMacro ? "(" + text(init.span) + ")" : besideProduct(source_, init);
        return {init.span, fmt::format("{} * {}", groups_.moved.lanes, operand)};
    }

    /// The number of groups that a loop goes through, the last of which may lack elements.
    [[nodiscard]] TextEdit dividedLimit() const {
        const Expr& limit = body_.expr(groups_.guard.limit);
        return {withParentheses(source_, limit.span),
                fmt::format("{0} / {1} + ({0} % {1} > 0)", besideProduct(source_, limit),
                            groups_.moved.lanes)};
    }

    [[nodiscard]] TextEdit replacedWork() const {
        const Stmt& first = body_.stmt(groups_.guard.work.front());
        const Span work{first.span.begin, body_.stmt(groups_.guard.work.back()).span.end};
        const Stmt& around = body_.stmt(first.parent);
        if (around.kind == StmtKind::Compound) {
            const std::string indentation = layout_.indentation(work.begin);
            CodeLines lines(layout_, indentation);
            addWork(lines, work, indentation.size());
            std::string text = lines.text();
            text.resize(text.size() - layout_.newline().size());
            return {work, text.substr(indentation.size())};
        }
        // The only statement gets braces, behind the bracket that closes what stands before it.
        const std::string indentation = layout_.indentation(around.span.begin);
        std::uint32_t before = body_.expr(around.condition).span.end;
        if (around.increment != noId)
            before = std::max(before, body_.expr(around.increment).span.end);
        std::string_view gap = source_.slice({before, work.begin});
        gap = gap.substr(0, std::min(gap.find("//"), gap.find("/*")));
        const Span replaced{before + static_cast<std::uint32_t>(gap.rfind(')') + 1), work.end};
        CodeLines lines(layout_, indentation + layout_.unit());
        addWork(lines, replaced, indentation.size() + layout_.unit().size());
        return {replaced, fmt::format(" {{{}{}{}}}", layout_.newline(), lines.text(), indentation)};
    }

    void addWork(CodeLines& lines, Span work, std::size_t indentation) const {
        const std::string aligned = freshName(body_, "aligned");
        for (const std::string& comment : commentsIn(source_, work))
            lines.add(comment);
        lines.add(
            fmt::format("// A thread takes {} neighbours: one access of up to {} bytes each, "
                        "where the addresses allow it.",
                        groups_.moved.lanes,
                        std::ranges::max(groups_.moved.places, {}, &NeighbourPlace::bytes).bytes));
        const std::string type = valueSpelling(body_.variable(groups_.guard.index).type);
        if (groups_.guard.isLoop)
            lines.add(
                fmt::format("const {} {} = {} * {};", type, first_, groups_.moved.lanes, index_));
        for (const StmtId id : groups_.head)
            lines.addBlock(ofFirst(body_.stmt(id).span),
                           layout_.indentation(body_.stmt(id).span.begin));
        std::vector<VectorAddress> addresses;
        for (const NeighbourPlace& place : groups_.moved.places)
            addresses.push_back({addressOf(place), place.bytes});
        std::string rows;
        for (const ExprId length : groups_.rowLengths)
            if (!code_.constantValue(length))
                rows += fmt::format("{} % {} == 0 && ", besideProduct(source_, body_.expr(length)),
                                    groups_.moved.lanes);
        addCondition(lines, layout_, aligned, rows + alignmentCondition(addresses), indentation);
        const std::string limit = besideProduct(source_, body_.expr(groups_.guard.limit));
        const std::string isWhole =
            fmt::format(" && {} - {} >= {}", limit, first_, groups_.moved.lanes);
        lines.open(fmt::format("if ({}{}) {{", aligned, groups_.areRowsWhole ? "" : isWhole));
        addVectorWork(lines);
        lines.close("} else {");
        std::string element = freshName(body_, "k");
        lines.open(fmt::format("for ({0} {1} = {2}; {3}; ++{1}){4}", type, element, first_,
                               isLeft(type, element), copied_.size() > 1 ? " {" : ""));
        for (const StmtId id : copied_)
            addCopy(lines, id, [&](ExprId) { return element; });
        if (copied_.size() > 1)
            lines.close();
        else
            lines.leave();
        lines.close();
    }

    /// The condition of the loop over a group's elements one by one. Where types allow it, one that
    /// has both outcomes in each group.
    [[nodiscard]] std::string isLeft(const std::string& type, const std::string& element) const {
        const ExprId limit = groups_.guard.limit;
        const ScalarKind index = body_.variable(groups_.guard.index).type.scalar;
        const ScalarKind kind = body_.expr(limit).type.scalar;
        const bool isSame = kind == index;
        const bool isWider = index == ScalarKind::UInt64 || index == ScalarKind::Int64;
        if (!isSame && !isWider)
            return fmt::format("{0} < {1} && {0} - {2} < {3}", element, text(limit), first_,
                               groups_.moved.lanes);
        return fmt::format("{} < min({}, {} + {})", element,
                           isSame ? text(limit)
                                  : fmt::format("static_cast<{}>({})", type, text(limit)),
                           first_, groups_.moved.lanes);
    }

    /// The text for the group's first element.
    [[nodiscard]] std::string ofFirst(Span span) const {
        std::vector<TextEdit> parts;
        for (const ExprId use : code_.uses(groups_.guard.index))
            if (const Span at = body_.expr(use).span; first_ != index_ && span.contains(at))
                parts.push_back({at, first_});
        return rewritten(source_, span, std::move(parts));
    }

    /// The address of the group's first element.
    [[nodiscard]] std::string addressOf(const NeighbourPlace& place) const {
        const Expr& expr = body_.expr(place.place);
        if (givesAddress(expr))
            return ofFirst(expr.span);
        const bool isDereferenced = expr.kind == ExprKind::Unary && !expr.fromMacro;
        return isDereferenced ? ofFirst(body_.expr(expr.children.front()).span)
                              : "&" + ofFirst(expr.span);
    }

    void addVectorWork(CodeLines& lines) const {
        for (const NeighbourPlace& place : groups_.moved.places) {
            if (!place.record.empty())
                lines.add(fmt::format("alignas({}) {} {}[{}];", place.bytes, place.record,
                                      place.vector, groups_.moved.lanes));
            else if (!place.isRead)
                lines.add(fmt::format("{} {};", place.type, place.vector));
            if (place.isRead)
                addMove(lines, place, place.isWritten ? "" : "const ", false);
        }
        for (int lane = 0; lane < groups_.moved.lanes; ++lane)
            addElementWork(lines, lane);
        std::vector<const NeighbourPlace*> written;
        for (const NeighbourPlace& place : groups_.moved.places)
            if (place.isWritten)
                written.push_back(&place);
        std::ranges::stable_sort(written, {}, &NeighbourPlace::lastWrite);
        for (const NeighbourPlace* place : written)
            addMove(lines, *place, "", true);
    }

    /// Loads what the local of the place holds, and declares it with `qualifier`, or stores it.
    void addMove(CodeLines& lines, const NeighbourPlace& place, std::string_view qualifier,
                 bool isStore) const {
        const std::string address = addressOf(place);
        if (place.record.empty()) {
            lines.add(isStore ? fmt::format("*reinterpret_cast<{}*>({}) = {};", place.type, address,
                                            place.vector)
                              : fmt::format("{0}{1} {2} = *reinterpret_cast<const {1}*>({3});",
                                            qualifier, place.type, place.vector, address));
            return;
        }
        const std::string memory = fmt::format("reinterpret_cast<{}{}*>({})",
                                               isStore ? "" : "const ", place.type, address);
        const std::string local = fmt::format("reinterpret_cast<{}{}*>({})",
                                              isStore ? "const " : "", place.type, place.vector);
        for (std::uint32_t at = 0; at < place.accesses; ++at)
            lines.add(fmt::format("{0}[{2}] = {1}[{2}];", isStore ? memory : local,
                                  isStore ? local : memory, at));
    }

    /// An element of a group, by its place there.
    [[nodiscard]] static std::string element(const NeighbourPlace& place, int lane) {
        return place.record.empty() ? fmt::format("{}.{}", place.vector,
                                                  vectorComponents[static_cast<std::size_t>(lane)])
                                    : fmt::format("{}[{}]", place.vector, lane);
    }

    /// The statements of the work for one element of the vector; in a block of their own when they
    /// declare something.
    void addElementWork(CodeLines& lines, int lane) const {
        std::vector<StmtId> copies;
        for (const StmtId id : copied_)
            if (std::ranges::find(unused_, id) == unused_.end())
                copies.push_back(id);
        const bool declares = std::ranges::any_of(
            copies, [&](StmtId id) { return body_.stmt(id).kind == StmtKind::Declaration; });
        if (declares)
            lines.open("{");
        for (const StmtId id : copies)
            addCopy(
                lines, id,
                [&](ExprId use) {
                    if (lane == 0)
                        return first_;
                    const std::string sum = fmt::format("{} + {}", first_, lane);
                    return standsAlone(code_, use) ? sum : "(" + sum + ")";
                },
                lane);
        if (declares)
            lines.close();
    }

    /// Adds a statement with another text for the index and, for an element of the vector, with the
    /// vectors' components.
    template <typename IndexText>
    void addCopy(CodeLines& lines, StmtId id, const IndexText& indexText, int lane = -1) const {
        const Span span = body_.stmt(id).span;
        std::vector<TextEdit> parts;
        for (const NeighbourAccess& access : groups_.moved.accesses)
            if (const Span at = body_.expr(access.replaced).span; lane >= 0 && span.contains(at))
                parts.push_back({at, element(groups_.moved.places[access.place], lane)});
        for (const ExprId use : code_.uses(groups_.guard.index))
            if (const Span at = body_.expr(use).span;
                span.contains(at) && (lane < 0 || !isReplaced(use)))
                parts.push_back({at, indexText(use)});
        lines.addBlock(rewritten(source_, span, std::move(parts)), layout_.indentation(span.begin));
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    const NeighbourGroups& groups_;
    std::string index_;
    std::string first_;          ///< The name of the first element's index.
    std::vector<StmtId> copied_; ///< What is done for each element, behind the head.
    std::vector<StmtId> unused_; ///< Those of them that the elements of a vector do without.
};

} // namespace

std::vector<TextEdit> neighbourEdits(const SkillContext& context, const NeighbourGroups& groups) {
    return NeighbourWriter(context, groups).edits();
}

} // namespace kernelskill::skills
