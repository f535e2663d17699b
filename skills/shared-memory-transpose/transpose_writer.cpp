#include "skills/shared-memory-transpose/transpose_writer.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/queries/value_spelling.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/grid_size.h"
#include "skills/editing/launch_text.h"
#include "skills/shared-memory-transpose/copy_text.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::uint32_t maxShared = 48 * 1024;
constexpr std::uint32_t maxElement = 16;

/// Loads, or stores, of a tile's elements: a thread's place along the side that neighbouring
/// threads follow, and along the other.
struct Side {
    bool isStore = false;
    const CopyDigit* lanes = nullptr;
    const CopyDigit* rows = nullptr;
};

struct Line {
    std::string text;
    std::string indentation; ///< For the lines after the first.
};

class TransposeWriter {
public:
    TransposeWriter(const SkillContext& context, const CrossedCopy& copy)
        : context_(context), copy_(copy), code_(context.code()), body_(code_.body()),
          source_(*context.file.source), layout_(source_, context.kernel), text_(context, copy) {}

    Gated<std::vector<TextEdit>> write() {
        KERNELSKILL_CHECK(nameTiles());
        const Span replaced = spanOfChange();
        CodeLines body(layout_, layout_.indentation(replaced.begin));
        addOnce(body, replaced);
        addTiles(body);
        addHeader(body);
        addSide(body, {false, &copy_.in, &copy_.out});
        body.add("__syncthreads();");
        addSide(body, {true, &copy_.out, &copy_.in});
        if (copy_.form == TileForm::Loop)
            body.add("__syncthreads();").close();
        if (text_.refusal() || refused_)
            return std::unexpected(text_.refusal() ? *text_.refusal() : *refused_);
        CodeLines lines(layout_, layout_.indentation(replaced.begin));
        for (const std::string& comment : commentsLeft(replaced))
            lines.add(comment);
        std::string text = lines.text() + body.text();
        text.resize(text.size() - layout_.newline().size());
        if (layout_.startsLine(replaced.begin))
            text.erase(0, layout_.indentation(replaced.begin).size());
        else
            text.insert(0, layout_.newline());
        if (!layout_.endsLine(replaced.end))
            text += layout_.newline();
        std::vector<TextEdit> edits{{replaced, std::move(text)}};
        KERNELSKILL_CHECK(addLaunches(edits));
        return edits;
    }

private:
    [[nodiscard]] bool stagesLoads() const { return !copy_.staged.empty(); }
    [[nodiscard]] std::size_t tiles() const {
        return stagesLoads() ? copy_.staged.size() : copy_.element.stores.size();
    }
    /// The type of a tile's elements.
    [[nodiscard]] Type elementOf(std::size_t tile) const {
        if (stagesLoads())
            return body_.expr(copy_.staged[tile]).type;
        const CopyStore& store = copy_.element.stores[tile];
        return body_.expr(store.op == "=" ? store.target : store.value).type;
    }

    Gated<void> nameTiles() {
        std::uint32_t bytes = 0;
        for (std::size_t tile = 0; tile < tiles(); ++tile) {
            const Type type = elementOf(tile);
            const bool isPlain =
                type.pointerDepth == 0 && (type.scalar != ScalarKind::Unknown || type.isDependent ||
                                           type.isPlainClass || type.lanes > 1);
            if (!isPlain || type.size > maxElement)
                return refuse("class-type",
                              fmt::format("elements of type {} are not staged in shared memory",
                                          type.spelling));
            const std::uint32_t size = type.size > 0 ? type.size : maxElement;
            bytes += size * static_cast<std::uint32_t>(side(copy_.out) * (side(copy_.in) + 1));
            names_.push_back(text_.fresh("tile"));
        }
        if (bytes > maxShared)
            return refuse("too-much-shared-memory",
                          fmt::format("{} tiles have {} bytes, and a block has {}", tiles(), bytes,
                                      maxShared));
        return {};
    }

    [[nodiscard]] std::int64_t side(const CopyDigit& digit) const {
        return copy_.form == TileForm::Block ? copy_.block[digit.slice.axis] : tileSide;
    }

    [[nodiscard]] Span spanOfChange() const {
        const std::vector<StmtId>& all = body_.stmt(body_.root).children;
        const std::uint32_t end = body_.stmt(all.back()).span.end;
        for (const StmtId id : all)
            if (!text_.staysOnce(id))
                return {body_.stmt(id).span.begin, end};
        return body_.stmt(all.back()).span;
    }

    /// Writes the declarations of the replaced text that belong in front of all tiles.
    void addOnce(CodeLines& lines, Span replaced) {
        for (const StmtId id : copy_.element.statements)
            if (const Span span = body_.stmt(id).span;
                text_.staysOnce(id) && replaced.contains(span)) {
                lines.addBlock(source_.slice(span), layout_.indentation(span.begin));
                written_.push_back(span);
            }
    }

    void addTiles(CodeLines& lines) {
        for (std::size_t tile = 0; tile < tiles(); ++tile) {
            std::string type = valueSpelling(elementOf(tile));
            if (type.starts_with("const "))
                type.erase(0, 6);
            lines.add(fmt::format("__shared__ {} {}[{}][{} + 1];", type, names_[tile],
                                  side(copy_.out), side(copy_.in)));
        }
    }

    void addHeader(CodeLines& lines) {
        for (const CopyDigit* digit : {&copy_.in, &copy_.out})
            begins_[digit == &copy_.in ? 0 : 1] =
                text_.fresh(text_.joined(text_.named(*digit).name, "begin"));
        if (copy_.form == TileForm::Loop) {
            addLoop(lines);
            return;
        }
        if (copy_.form == TileForm::Block)
            nameThread(lines);
        for (const CopyDigit* digit : {&copy_.in, &copy_.out}) {
            const auto& named = text_.named(*digit);
            const bool isWide = digit->slice.axis == 0 && hasPointerWidth(named.type);
            lines.add(fmt::format("const {} {} = {}blockIdx.{} * {};", named.typeText,
                                  begins_[digit == &copy_.in ? 0 : 1],
                                  isWide ? "(" + named.typeText + ")" : std::string(),
                                  "xyz"[digit->slice.axis], side(*digit)));
        }
    }

    /// Numbers the threads of a block through if the sides of its rectangle differ.
    void nameThread(CodeLines& lines) {
        const auto [first, second] = std::minmax(copy_.in.slice.axis, copy_.out.slice.axis);
        const std::int64_t width = copy_.block[first];
        along_ = {fmt::format("threadIdx.{}", "xyz"[first]),
                  fmt::format("threadIdx.{}", "xyz"[second])};
        if (width == copy_.block[second])
            return;
        thread_ = text_.fresh("thread");
        lines.add(
            fmt::format("const int {} = {} * {} + {};", thread_, along_[1], width, along_[0]));
    }

    void addLoop(CodeLines& lines) {
        const std::string& type = text_.countType();
        const std::int64_t warps = copy_.block[0] / tileSide;
        lane_ = text_.fresh("lane");
        lines.add(fmt::format("const int {} = threadIdx.x % {};", lane_, tileSide));
        if (warps > 1) {
            warp_ = text_.fresh("warp");
            lines.add(fmt::format("const int {} = threadIdx.x / {};", warp_, tileSide));
        }
        std::array<std::string, 2> counts;
        for (const CopyDigit* digit : {&copy_.in, &copy_.out}) {
            std::string& count = counts[digit == &copy_.in ? 0 : 1];
            count = text_.fresh(text_.joined(text_.named(*digit).name, "tiles"));
            lines.add(fmt::format("const {} {} = ({} + {}) / {};", type, count,
                                  text_.extent(*digit), tileSide - 1, tileSide));
        }
        std::string all = fmt::format("{} * {}", counts[0], counts[1]);
        for (const CopyDigit& digit : copy_.others)
            all += " * " + text_.factor(digit);
        const std::string tiles = text_.fresh("tiles");
        const std::string number = text_.fresh(text_.joined("tile", "number"));
        lines.add(fmt::format("const {} {} = {};", type, tiles, all));
        const bool isFlat = copy_.in.slice.axis == flatAxis;
        lines.open(fmt::format("for ({0} {1} = {2}; {1} < {3}; {1} += {4}) {{", type, number,
                               isFlat ? "blockIdx.y * gridDim.x + blockIdx.x" : "blockIdx.x", tiles,
                               isFlat ? "gridDim.x * gridDim.y" : "gridDim.x"));
        lines.add(fmt::format("const {} {} = {} % {} * {};", text_.named(copy_.in).typeText,
                              begins_[0], number, counts[0], tileSide));
        const bool isLast = copy_.others.empty();
        lines.add(fmt::format("const {} {} = {} / {}{} * {};", text_.named(copy_.out).typeText,
                              begins_[1], number, counts[0],
                              isLast ? std::string() : " % " + counts[1], tileSide));
        std::string rest = fmt::format("{} / ({} * {})", number, counts[0], counts[1]);
        for (std::size_t at = 0; at < copy_.others.size(); ++at) {
            const CopyDigit& digit = copy_.others[at];
            const bool isTop = at + 1 == copy_.others.size();
            const auto& named = text_.named(digit);
            const std::string extent = text_.factor(digit);
            lines.add(fmt::format("const {} {} = {}{};", named.typeText, named.name, rest,
                                  isTop ? std::string() : " % " + extent));
            rest += " / " + extent;
        }
    }

    [[nodiscard]] std::int64_t stepOfRows() const {
        return copy_.form == TileForm::Grid ? tileRows : copy_.block[0] / tileSide;
    }

    /// Whether all threads take the same number of rows.
    [[nodiscard]] bool hasEvenSteps() const { return tileSide % stepOfRows() == 0; }

    /// The place of a thread in the tile, along lanes and rows of a side.
    [[nodiscard]] std::array<std::string, 2> placeIn(const Side& side) {
        if (copy_.form == TileForm::Block) {
            if (thread_.empty() ||
                copy_.block[side.lanes->slice.axis] ==
                    copy_.block[std::min(copy_.in.slice.axis, copy_.out.slice.axis)])
                return along_;
            const std::int64_t width = copy_.block[side.lanes->slice.axis];
            return {fmt::format("{} % {}", thread_, width), fmt::format("{} / {}", thread_, width)};
        }
        const std::string row = copy_.form == TileForm::Grid ? "threadIdx.y" : warp_;
        const std::string lane = copy_.form == TileForm::Grid ? "threadIdx.x" : lane_;
        if (step_.empty())
            return {lane, row};
        return {lane, row.empty() || !hasEvenSteps() ? step_ : row + " + " + step_};
    }

    void addSide(CodeLines& lines, const Side& side) {
        if (copy_.form != TileForm::Block && stepOfRows() < tileSide) {
            if (step_.empty())
                step_ = text_.fresh(hasEvenSteps() ? "step" : "line");
            lines.open(fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3}) {{", step_,
                                   hasEvenSteps() ? "0" : warp_, tileSide, stepOfRows()));
        } else {
            lines.open("{"); // Both sides use the names of positions.
        }
        const std::array<std::string, 2> place = placeIn(side);
        const auto addPosition = [&](const CopyDigit* digit, const std::string& at) {
            const auto& named = text_.named(*digit);
            lines.add(fmt::format("const {} {} = {} + {};", named.typeText, named.name,
                                  begins_[digit == &copy_.in ? 0 : 1], at));
        };
        addPosition(side.lanes, place[0]);
        addPosition(side.rows, place[1]);
        addElement(lines, side,
                   side.isStore ? fmt::format("[{}][{}]", place[0], place[1])
                                : fmt::format("[{}][{}]", place[1], place[0]));
        lines.close();
    }

    /// Writes a thread's work on one element, whose place in a tile is `inTile`.
    void addElement(CodeLines& lines, const Side& side, const std::string& inTile) {
        std::set<VariableId>& needed = text_.needed();
        needed.clear();
        const std::vector<std::string> conditions = conditionsOf();
        std::vector<Line> ahead; // The last line first, as below.
        std::set<VariableId> placed;
        bool needsStrided = false;
        for (std::size_t at = copy_.element.statements.size(); at-- > 0;)
            addAhead(copy_.element.statements[at], ahead, placed);
        needsStrided = needed.contains(copy_.element.strided);
        needed.clear();
        std::vector<Line> work;
        const bool runsAll = side.isStore == stagesLoads();
        if (!runsAll && stagesLoads())
            for (std::size_t tile = copy_.staged.size(); tile-- > 0;)
                work.push_back({fmt::format("{}{} = {};", names_[tile], inTile,
                                            text_.text(copy_.staged[tile])),
                                indentationOf(body_.expr(copy_.staged[tile]).span)});
        for (std::size_t at = copy_.element.statements.size(); at-- > 0;) {
            for (const VariableId variable : body_.stmt(copy_.element.statements[at]).declared)
                if (placed.contains(variable))
                    needed.erase(variable);
            addStatement(copy_.element.statements[at], side, runsAll, inTile, work);
        }
        needsStrided = needsStrided || needed.contains(copy_.element.strided);
        if (needsStrided && copy_.element.strided != noId &&
            !text_.isDigit(copy_.element.strided)) {
            const Type& type = body_.variable(copy_.element.strided).type;
            lines.add(fmt::format("const {} {} = {};", text_.countType(),
                                  body_.variable(copy_.element.strided).name,
                                  text_.sliceText({0, {}, std::nullopt}, type)));
        }
        for (std::size_t at = ahead.size(); at-- > 0;)
            lines.addBlock(ahead[at].text, ahead[at].indentation);
        const bool isBlock = work.size() > 1 || (!work.empty() && work[0].text.contains('\n'));
        if (!conditions.empty())
            lines.open(
                fmt::format("if ({}){}", fmt::join(conditions, " && "), isBlock ? " {" : ""));
        for (std::size_t at = work.size(); at-- > 0;)
            lines.addBlock(work[at].text, work[at].indentation);
        if (conditions.empty())
            return;
        if (isBlock)
            lines.close();
        else
            lines.leave();
    }

    /// The conditions under which an element of a tile exists.
    std::vector<std::string> conditionsOf() {
        std::vector<std::string> result;
        if (copy_.form == TileForm::Loop)
            for (const CopyDigit* digit : {&copy_.in, &copy_.out}) {
                const bool isFull = digit->extent && digit->extent->sizes.empty() &&
                                    digit->extent->factor % tileSide == 0;
                // A check of the whole position says more than the rounded end of its top digit.
                const bool isChecked =
                    !digit->extent && (digit->limit == noId || digit->isLimitOfWhole);
                if (!isFull && !isChecked)
                    result.push_back(
                        fmt::format("{} < {}", text_.named(*digit).name, text_.extent(*digit)));
            }
        if (copy_.isUnbounded)
            result.push_back(fmt::format("{} < {}",
                                         text_.sliceText({copy_.in.slice.axis, {}, std::nullopt},
                                                         text_.named(copy_.in).type),
                                         text_.launchedPositions()));
        for (const CopyClause& clause : copy_.element.guard)
            if (!clause.isImplied)
                result.push_back(text_.conditionText(clause));
        return result;
    }

    /// A declaration that the conditions need.
    void addAhead(StmtId id, std::vector<Line>& ahead, std::set<VariableId>& placed) {
        const Stmt& stmt = body_.stmt(id);
        const bool isNeeded = std::ranges::any_of(stmt.declared, [&](VariableId variable) {
            return text_.needed().contains(variable) && !text_.isDigit(variable);
        });
        if (!isNeeded || text_.staysOnce(id))
            return;
        for (const VariableId variable : stmt.declared) {
            if (!text_.needed().contains(variable))
                continue;
            placed.insert(variable);
            if (code_.isEverWritten(variable) && !text_.isWrittenByValue(variable))
                refuseChanging(variable);
        }
        const bool reads =
            std::ranges::any_of(context_.kernel.accesses, [&](const MemoryAccess& access) {
                return code_.holds(id, access.expression);
            });
        if (reads && !refused_)
            refused_ = Refusal{"guard-reads-memory",
                               fmt::format("the bounds check needs what line {} reads",
                                           lineNumber(context_, stmt.span.begin))};
        addDeclaration(id, ahead);
    }

    void refuseChanging(VariableId variable) {
        if (!refused_)
            refused_ = Refusal{"place-not-recomputable",
                               fmt::format("{} changes, and takes part in an address",
                                           body_.variable(variable).name)};
    }

    /// The text that stands for an expression on the side of the stores, where loads are staged.
    [[nodiscard]] CopyText::Replacement fromTiles(const Side& side, const std::string& inTile) {
        if (!stagesLoads() || !side.isStore)
            return {};
        return [this, inTile](ExprId id) -> std::string {
            for (std::size_t tile = 0; tile < copy_.staged.size(); ++tile)
                if (code_.sameExpression(copy_.staged[tile], id))
                    return names_[tile] + inTile;
            return {};
        };
    }

    [[nodiscard]] std::string indentationOf(Span span) const {
        return layout_.indentation(span.begin);
    }

    void addStatement(StmtId id, const Side& side, bool runsAll, const std::string& inTile,
                      std::vector<Line>& work) {
        const Stmt& stmt = body_.stmt(id);
        if (text_.staysOnce(id))
            return;
        const CopyText::Replacement staged = fromTiles(side, inTile);
        if (stmt.kind == StmtKind::Declaration) {
            for (const VariableId variable : stmt.declared) {
                const bool changes =
                    code_.isEverWritten(variable) && !text_.isWrittenByValue(variable);
                if (changes && runsAll)
                    text_.needed().insert(variable);
                else if (changes && text_.needed().contains(variable))
                    refuseChanging(variable);
            }
            addDeclaration(id, work, staged);
            return;
        }
        const auto store = std::ranges::find(copy_.element.stores, id, &CopyStore::statement);
        if (store != copy_.element.stores.end() && !stagesLoads()) {
            const std::string tile =
                names_[static_cast<std::size_t>(store - copy_.element.stores.begin())] + inTile;
            work.push_back(
                {side.isStore ? fmt::format("{} {} {};", text_.text(store->target), store->op, tile)
                              : fmt::format("{} = {};", tile, text_.text(store->value)),
                 indentationOf(stmt.span)});
            written_.push_back(body_.expr(side.isStore ? store->target : store->value).span);
            return;
        }
        if (!runsAll || isOfIndexAlone(stmt))
            return;
        work.push_back(
            {text_.text(stmt.span, expressionsOf(id), staged), indentationOf(stmt.span)});
        written_.push_back(stmt.span);
    }

    void addDeclaration(StmtId id, std::vector<Line>& lines,
                        const CopyText::Replacement& staged = {}) {
        const Span span = body_.stmt(id).span;
        std::vector<std::string> all = text_.declarations(id, staged);
        if (!all.empty())
            written_.push_back(span);
        for (std::size_t at = all.size(); at-- > 0;)
            lines.push_back({std::move(all[at]), indentationOf(span)});
    }

    std::vector<ExprId> expressionsOf(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        std::vector<ExprId> result;
        for (const ExprId expr : {stmt.condition, stmt.expr})
            if (expr != noId)
                result.push_back(expr);
        for (const VariableId variable : stmt.declared)
            if (body_.variable(variable).init != noId)
                result.push_back(body_.variable(variable).init);
        for (const StmtId child : stmt.children)
            for (const ExprId expr : expressionsOf(child))
                result.push_back(expr);
        return result;
    }

    /// `t /= n;` of an index that is written by what it holds.
    [[nodiscard]] bool isOfIndexAlone(const Stmt& stmt) const {
        if (stmt.kind != StmtKind::Expression)
            return false;
        const Expr& expr = body_.expr(stmt.expr);
        if (expr.kind != ExprKind::Binary || !isAssignment(expr.op))
            return false;
        const VariableId variable = code_.namedVariable(expr.children[0]);
        return variable != noId && text_.isWrittenByValue(variable);
    }

    [[nodiscard]] std::vector<std::string> commentsLeft(Span replaced) const {
        std::vector<Span> written = written_;
        std::ranges::sort(written);
        std::vector<std::string> left;
        std::uint32_t done = replaced.begin;
        const auto take = [&](std::uint32_t until) {
            if (until > done)
                for (std::string& comment : commentsIn(source_, {done, until}))
                    left.push_back(std::move(comment));
        };
        for (const Span span : written) {
            if (!replaced.contains(span))
                continue;
            take(span.begin);
            done = std::max(done, span.end);
        }
        take(replaced.end);
        return left;
    }

    /// Returns the number of blocks for the rounds of the loop, at least 1.
    [[nodiscard]] std::string blocksOf(const CopyLoop& loop, const LaunchSite& launch) const {
        const auto limit = textAtLaunch(context_, launch, loop.limit);
        if (!limit)
            return {};
        return isUnsignedIndexType(body_.expr(loop.limit).type)
                   ? fmt::format("{} / {} + 1", *limit, tileSide)
                   : fmt::format("({} - 1) / {} + 1", *limit, tileSide);
    }

    Gated<void> addLaunches(std::vector<TextEdit>& edits) const {
        for (const LaunchSite& launch : context_.kernel.launches) {
            if (copy_.form == TileForm::Loop && copy_.resizesGrid)
                edits.push_back(dividedGrid(
                    context_, launch, static_cast<int>(tileSide * tileSide / copy_.block[0])));
            if (copy_.form != TileForm::Grid)
                continue;
            const CodeMap& host = context_.shared().host(launch.host);
            const auto block = constantExtents(host, launch.block);
            Extents tile{1, 1, 1};
            tile[copy_.in.slice.axis] = tile[copy_.out.slice.axis] = tileSide;
            std::array<std::string, 3> given;
            if (const auto& loop = copy_.element.loop)
                given[loop->axis] = blocksOf(*loop, launch);
            const auto grid =
                block ? regroupedGrid(context_, launch, *block, tile, given) : std::nullopt;
            const Expr& blockExpr = host.body().expr(launch.block);
            if (!grid || blockExpr.fromMacro || !launch.configurationSpan.contains(blockExpr.span))
                return refuse("launch-block",
                              fmt::format("the launch on line {} does not show its grid and block",
                                          lineNumber(context_, launch.span.begin)));
            edits.insert(edits.end(), grid->begin(), grid->end());
            edits.push_back({blockExpr.span, fmt::format("dim3({}, {})", tileSide, tileRows)});
        }
        return {};
    }

    const SkillContext& context_;
    const CrossedCopy& copy_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    CopyText text_;
    std::vector<std::string> names_; ///< The tiles' names.
    std::array<std::string, 2> begins_;
    std::array<std::string, 2> along_; ///< For TileForm::Block: the threads of both axes.
    std::string thread_;
    std::string lane_;
    std::string warp_;
    std::string step_;
    std::vector<Span> written_; ///< Text that stands in the edit as it was.
    std::optional<Refusal> refused_;
};

} // namespace

Gated<std::vector<TextEdit>> transposeEdits(const SkillContext& context, const CrossedCopy& copy) {
    return TransposeWriter(context, copy).write();
}

} // namespace kernelskill::skills
