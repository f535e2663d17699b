#include "skills/schedule/tile_contraction.h"

#include "analysis/queries/source_layout.h"
#include "analysis/queries/value_spelling.h"
#include "skills/editing/block_count.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/grid_size.h"
#include "skills/schedule/tile_terms.h"
#include "skills/schedule/tile_text.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

using Kind = ContractionPart::Kind;

/// Work of one output, as text with its own indentation.
struct OutputWork {
    std::string text;
    std::string indentation;
    std::vector<ExprId> expressions;
};

class TileWriter {
public:
    TileWriter(Draft& draft, const SkillContext& context, const Contraction& found,
               const TileShape& shape)
        : draft_(draft), context_(context), found_(found), shape_(shape), code_(context.code()),
          body_(code_.body()), source_(*context.file.source), text_(context, found, shape),
          layout_(draft.layout()), replaced_(spanOfChange()),
          lines_(layout_, layout_.indentation(replaced_.begin)), cursor_(replaced_.begin) {}

    void write() {
        for (const ContractionPart& part : found_.parts)
            if (beginOf(part.statement) >= replaced_.begin)
                addPart(part);
        for (const std::string& comment : commentsIn(source_, {cursor_, replaced_.end}))
            addWork({comment, {}, {}});
        flush();
        if (found_.axes.flat && hasHeader_)
            lines_.close();
        std::string text = lines_.text();
        text.resize(text.size() - layout_.newline().size());
        if (layout_.startsLine(replaced_.begin))
            text.erase(0, layout_.indentation(replaced_.begin).size());
        else
            text.insert(0, layout_.newline());
        if (!layout_.endsLine(replaced_.end))
            text += layout_.newline();
        draft_.replace(replaced_, std::move(text));
    }

    /// The parameters that the kernel needs to bound its positions itself.
    [[nodiscard]] std::vector<BlockCount> blockCounts() const {
        std::vector<BlockCount> counts;
        for (const AxisSet axis : {slowAxis, fastAxis})
            if ((text_.unboundedAxes() & axis) != 0)
                counts.push_back({static_cast<std::uint8_t>(text_.outputAxis(axis).gridAxis),
                                  text_.axisNames(axis).blocks});
        return counts;
    }

private:
    [[nodiscard]] std::uint32_t beginOf(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        return beginWithPragma(stmt);
    }
    [[nodiscard]] Span spanOfChange() const {
        const Span last = body_.stmt(body_.stmt(body_.root).children.back()).span;
        for (const ContractionPart& part : found_.parts) {
            const bool isUnchanged =
                part.kind == Kind::Once ||
                (part.kind == Kind::Declaration &&
                 std::ranges::all_of(body_.stmt(part.statement).declared,
                                     [&](VariableId id) { return text_.staysOnce(id); }));
            if (!isUnchanged)
                return {beginOf(part.statement), last.end};
        }
        return last;
    }

    void addPart(const ContractionPart& part) {
        const Stmt& stmt = body_.stmt(part.statement);
        for (const std::string& comment :
             commentsIn(source_, {cursor_, std::max(cursor_, beginOf(part.statement))}))
            comments_.push_back(comment);
        addKeptLoads(part.statement);
        switch (part.kind) {
        case Kind::Once:
            flush();
            addComments();
            lines_.addBlock(source_.slice({beginOf(part.statement), stmt.span.end}),
                            layout_.indentation(stmt.span.begin));
            break;
        case Kind::Declaration:
            addDeclaration(part.statement);
            break;
        case Kind::Guard:
            guard_.insert(guard_.end(), part.clauses.begin(), part.clauses.end());
            break;
        case Kind::Work:
            addWork(workOf(part.statement));
            break;
        case Kind::Loop:
            flush();
            addHeader();
            addComments();
            addTermLoop(lines_, context_, found_, shape_, text_, guard_, part.statement);
            break;
        }
        addKeptStores(part.statement);
        const bool isAround = part.kind == Kind::Guard &&
                              code_.encloses(part.statement, found_.loops.front().statement);
        const Stmt& then = body_.stmt(isAround ? stmt.children[0] : part.statement);
        cursor_ = !isAround                         ? stmt.span.end
                  : then.kind == StmtKind::Compound ? then.span.begin + 1
                                                    : then.span.begin;
    }

    void addComments() {
        for (const std::string& comment : comments_)
            lines_.add(comment);
        comments_.clear();
    }

    void addDeclaration(StmtId id) {
        const Stmt& stmt = body_.stmt(id);
        const std::string indentation = layout_.indentation(stmt.span.begin);
        const auto& all = stmt.declared;
        if (std::ranges::all_of(all, [&](VariableId each) { return text_.staysOnce(each); })) {
            addComments();
            lines_.addBlock(source_.slice(stmt.span), indentation);
            return;
        }
        if (std::ranges::all_of(
                all, [&](VariableId each) { return text_.roleOf(each) == OutputRole::Part; })) {
            addWork(workOf(id));
            return;
        }
        for (const VariableId each : all) {
            const Variable& variable = body_.variable(each);
            if (text_.staysOnce(each)) {
                addComments();
                lines_.add(text_.definition(each));
            } else if (text_.roleOf(each) == OutputRole::Part) {
                addWork({text_.definition(each), {}, text_.initialiser(each)});
            } else if (text_.roleOf(each) == OutputRole::Carried) {
                addHeader();
                addComments();
                if (text_.suffix(text_.dependsOn(each)).empty() && variable.init != noId &&
                    isConstant(variable.init)) {
                    lines_.add(fmt::format("{} {} = {};", valueSpelling(variable.type),
                                           variable.name,
                                           source_.slice(body_.expr(variable.init).span)));
                    continue;
                }
                lines_.add(text_.arrayOf(variable.name, valueSpelling(variable.type),
                                         text_.dependsOn(each)));
                if (variable.init != noId && !text_.isZero(variable.init))
                    addWork({fmt::format("{}{} = {};", variable.name,
                                         text_.suffix(text_.dependsOn(each)),
                                         text_.textWith(body_.expr(variable.init).span)),
                             {},
                             text_.initialiser(each)});
            }
        }
        if (std::ranges::none_of(all, [&](VariableId each) {
                return text_.staysOnce(each) || text_.roleOf(each) == OutputRole::Part ||
                       text_.roleOf(each) == OutputRole::Carried;
            }))
            return; // Its comments stand where it is written again.
    }

    [[nodiscard]] bool isConstant(ExprId root) const {
        return std::ranges::all_of(code_.expressionsBelow(root), [&](ExprId id) {
            const ExprKind kind = body_.expr(id).kind;
            return kind == ExprKind::Integer || kind == ExprKind::Floating ||
                   kind == ExprKind::Cast || kind == ExprKind::Unary;
        });
    }

    void addKeptLoads(StmtId id) {
        for (std::size_t at = 0; at < found_.kept.size(); ++at) {
            const KeptElement& element = found_.kept[at];
            if (element.region.front() != id)
                continue;
            addHeader();
            lines_.add(text_.arrayOf(found_.keptNames[at], element.type, found_.keptAxes[at]));
            if (element.initialisation == noId)
                addWork(keptWork(element,
                                 fmt::format("{}{} = {};", found_.keptNames[at],
                                             text_.suffix(found_.keptAxes[at]), element.text)));
        }
    }
    void addKeptStores(StmtId id) {
        for (std::size_t at = 0; at < found_.kept.size(); ++at) {
            const KeptElement& element = found_.kept[at];
            if (element.region.back() == id && element.isWritten)
                addWork(
                    keptWork(element, fmt::format("{} = {}{};", element.text, found_.keptNames[at],
                                                  text_.suffix(found_.keptAxes[at]))));
        }
    }
    [[nodiscard]] OutputWork keptWork(const KeptElement& element, std::string line) const {
        OutputWork work{std::move(line), {}, {element.uses.front()}};
        if (!element.needsRound)
            return work;
        const auto term = std::ranges::find(found_.loops, element.loop, &TermLoop::statement);
        const Loop& loop = context_.kernel.loops[term->loop];
        const auto first = code_.constantValue(loop.lowerBound);
        const bool isInclusive = loop.comparison == "<=";
        const std::string limit = text_.boundText(loop.upperBound);
        const std::string hasRound = isInclusive && first
                                         ? fmt::format("{} < {}", *first - 1, limit)
                                         : fmt::format("{} {} {}", text_.boundText(loop.lowerBound),
                                                       isInclusive ? "<=" : "<", limit);
        work.text =
            fmt::format("if ({}){}{}{}", hasRound, layout_.newline(), layout_.unit(), work.text);
        return work;
    }

    [[nodiscard]] OutputWork workOf(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        return {text_.textWith({beginOf(id), stmt.span.end}), layout_.indentation(stmt.span.begin),
                code_.expressionsIn(id)};
    }
    void addWork(OutputWork work) {
        for (std::string& comment : comments_)
            work_.push_back({std::move(comment), {}, {}});
        comments_.clear();
        work_.push_back(std::move(work));
    }

    /// Writes the work that has gathered, for each output under the guard.
    void flush() {
        if (work_.empty()) {
            addComments();
            return;
        }
        addHeader();
        std::vector<ExprId> used = clausesOn(guard_, outputAxesSet);
        std::set<VariableId> needed = text_.neededBy(used);
        const std::set<VariableId> guardNeeds = needed;
        for (const OutputWork& work : work_)
            used.insert(used.end(), work.expressions.begin(), work.expressions.end());
        needed = text_.neededBy(used);
        for (const AxisSet axis : {slowAxis, fastAxis})
            if ((text_.unboundedAxes() & axis) != 0)
                needed.insert(text_.outputAxis(axis).variable);
        OutputLoops outputs(lines_, text_);
        outputs.open(needed, false);
        const std::vector<VariableId> derived = text_.derivedIn(needed);
        outputs.addDerived(derived, false);
        const std::vector<std::string> guard = text_.guardTexts(guard_, outputAxesSet);
        const bool isBlock =
            work_.size() > 1 || work_.front().text.contains('\n') ||
            std::ranges::any_of(derived, [&](VariableId id) { return text_.readsMemory(id); });
        if (!guard.empty())
            lines_.open(fmt::format("if ({}){}", fmt::join(guard, " && "), isBlock ? " {" : ""));
        outputs.addDerived(derived, true);
        for (const OutputWork& work : work_)
            lines_.addBlock(work.text, work.indentation);
        if (!guard.empty() && isBlock)
            lines_.close();
        else if (!guard.empty())
            lines_.leave();
        outputs.close();
        work_.clear();
    }

    void addHeader() {
        if (hasHeader_)
            return;
        hasHeader_ = true;
        for (std::size_t loop = 0; loop < found_.loops.size(); ++loop)
            for (std::size_t at = 0; at < found_.loops[loop].operands.size(); ++at) {
                const TileOperand& operand = found_.loops[loop].operands[at];
                lines_.add(fmt::format("__shared__ __align__(16) {} {}[{}][{}];", operand.type,
                                       text_.names().loops[loop].operands[at].tile, shape_.terms,
                                       tileExtent(found_, operand, shape_) + tilePadding(operand)));
            }
        lines_.add(fmt::format("const int {} = {};", text_.names().thread, found_.axes.thread));
        if (found_.axes.flat)
            openTiles();
        for (const AxisSet axis : {slowAxis, fastAxis})
            lines_.add(fmt::format("const {} {} = {};", text_.axisNames(axis).type,
                                   text_.axisNames(axis).begin, text_.beginText(axis)));
        for (const AxisSet axis : {slowAxis, fastAxis})
            if ((text_.unboundedAxes() & axis) != 0)
                lines_.add(fmt::format("const {} {} = {};", text_.axisNames(axis).type,
                                       text_.axisNames(axis).end, text_.endText(axis)));
    }

    /// Blocks take rectangles of flat outputs in turns, however many blocks there are.
    void openTiles() {
        const TileNames& names = text_.names();
        const std::string type = valueSpelling(body_.variable(found_.axes.flat->index).type);
        const std::string columns = text_.columnsText();
        const auto tiled = [](const std::string& count, std::int64_t outputs) {
            return fmt::format("({} + {}) / {}", count, outputs - 1, outputs);
        };
        const std::string rows =
            found_.rows != noId
                ? text_.boundText(found_.rows)
                : fmt::format("({0} + {1} - 1) / {1}", text_.boundText(found_.count), columns);
        lines_.add(fmt::format("const {} {} = {};", type, names.columns,
                               tiled(columns, found_.axes.fast.threads * shape_.fast)));
        lines_.add(fmt::format("const {} {} = {} * {};", type, names.tiles,
                               tiled(rows, found_.axes.slow.threads * shape_.slow), names.columns));
        const char axis = "xyz"[found_.axes.slow.gridAxis];
        lines_.open(fmt::format("for ({0} {1} = blockIdx.{2}; {1} < {3}; {1} += gridDim.{2}) {{",
                                type, names.tile, axis, names.tiles));
    }

    Draft& draft_;
    const SkillContext& context_;
    const Contraction& found_;
    const TileShape& shape_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    TileText text_;
    const SourceLayout& layout_;
    Span replaced_;
    CodeLines lines_;
    std::uint32_t cursor_; ///< End of what has been written.
    std::vector<std::string> comments_;
    std::vector<GuardClause> guard_;
    std::vector<OutputWork> work_; ///< Of each output, until the next loop.
    bool hasHeader_ = false;
};

} // namespace

void tileContraction(Draft& draft, const SkillContext& context, const Contraction& found,
                     const TileShape& shape) {
    TileWriter writer(draft, context, found, shape);
    writer.write();
    if (shape.outputs() == 1 || found.axes.flat)
        return;
    if (const std::vector<BlockCount> counts = writer.blockCounts(); !counts.empty())
        for (TextEdit& edit : passedBlockCounts(context, counts))
            draft.replace(edit.span, std::move(edit.newText));
    std::array<int, 3> divisors{1, 1, 1};
    if (found.axes.slow.gridAxis >= 0)
        divisors[static_cast<std::size_t>(found.axes.slow.gridAxis)] = shape.slow;
    if (found.axes.fast.gridAxis >= 0)
        divisors[static_cast<std::size_t>(found.axes.fast.gridAxis)] = shape.fast;
    for (const LaunchSite& launch : context.kernel.launches)
        for (TextEdit& edit : dividedGridAxes(context, launch, divisors))
            draft.replace(edit.span, std::move(edit.newText));
}

} // namespace kernelskill::skills
