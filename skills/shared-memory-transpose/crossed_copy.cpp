#include "skills/shared-memory-transpose/crossed_copy.h"

#include "analysis/queries/grid_stride_loops.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/launch_values.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/aliasing.h"
#include "skills/gates/launch_sites.h"
#include "skills/gates/thread_position.h"
#include "skills/schedule/nest_queries.h"
#include "skills/schedule/threads_apart.h"
#include "skills/shared-memory-transpose/copied_element.h"
#include "skills/shared-memory-transpose/launch_coverage.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The min quotient of sectors before and after.
constexpr double minGain = 1.5;
/// The min extent of an axis: a shorter one leaves more than half of a tile's lanes idle.
constexpr std::int64_t minExtent = 16;
/// The min side of a block: 8 elements of 4 bytes fill a sector.
constexpr std::int64_t minBlockSide = 8;
/// Stands for a size that is not known: large, and a multiple of every alignment that counts here.
constexpr std::int64_t largeMultiple = 1 << 12;

/// A load, or a store, of an element.
struct Reach {
    ExprId expression = noId;
    VariableId base = noId;
    std::optional<IndexExpression> index; ///< Over digits.
    std::uint32_t width = 0;
    bool isStore = false;
};

/// An upper bound that a clause of the guard puts on a slice.
struct SliceBound {
    PositionSlice slice;
    ExprId limit = noId;
    bool isIncluded = false;
    std::size_t clause = 0;
};

/// Whether the access is to memory that other threads see.
bool isShared(const MemoryAccess& access) {
    return access.space == MemorySpace::Global || access.space == MemorySpace::Generic;
}

using LaneValues = std::vector<std::map<Symbol, std::int64_t>>;

class CopyFinder {
public:
    explicit CopyFinder(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          blocks_(launchedBlocks(context)) {}

    Gated<CrossedCopy> find() {
        if (!kernel_.atomics.empty())
            return refuse("atomic", kernel_.name + " has atomic operations");
        KERNELSKILL_CHECK(requireThreadsApart(context_));
        KERNELSKILL_CHECK(requirePlainCallees());
        std::optional<Extents> common;
        if (blocks_ && std::ranges::all_of(
                           *blocks_, [&](const Extents& block) { return block == (*blocks_)[0]; }))
            common = blocks_->front();
        found_.digits = std::make_shared<PositionDigits>(context_, common);
        KERNELSKILL_TRY(found_.element, copiedElement(context_, *found_.digits));
        findReaches();
        readBounds();
        KERNELSKILL_CHECK(chooseDigits());
        if (!blocks_)
            return std::unexpected(blocks_.error());
        found_.block = blocks_->front();
        KERNELSKILL_CHECK(requireNoRedundantThreads(context_));
        const bool isOneAxis = found_.in.slice.axis == found_.out.slice.axis;
        if (isOneAxis && found_.element.loop)
            return refuse("mixed-axes", fmt::format("both sides of a tile of {} would be parts of "
                                                    "an axis, and a loop a further one",
                                                    kernel_.name));
        KERNELSKILL_CHECK(isOneAxis ? chooseLoop(common) : chooseBlocks(common));
        KERNELSKILL_CHECK(requireLongAxes());
        KERNELSKILL_CHECK(chooseSides());
        KERNELSKILL_CHECK(requireOwnMemory());
        return std::move(found_);
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    /// The called functions access no memory but their own variables.
    [[nodiscard]] Gated<void> requirePlainCallees() const {
        const Nest& nest = context_.shared().nest();
        for (const NestAccess& access : nest.accesses)
            if (access.frame != 0 && !isThreadsOwn(nest, access))
                return refuse("callee-reaches-memory",
                              fmt::format("line {} calls a function that reaches memory",
                                          line(nest.node(access.node).span)));
        return {};
    }

    void findReaches() {
        for (const MemoryAccess& access : kernel_.accesses) {
            if (!isShared(access))
                continue;
            Reach reach{
                access.expression, access.base, {}, access.width, access.kind != AccessKind::Read};
            if (const auto place = found_.digits->placeOf(access.expression))
                reach.index = place->index;
            reaches_.push_back(std::move(reach));
        }
    }

    void readBounds() {
        for (std::size_t clause = 0; clause < found_.element.guard.size(); ++clause) {
            const Expr& expr = body_.expr(found_.element.guard[clause].condition);
            if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
                continue;
            std::string_view op = expr.op;
            if (found_.element.guard[clause].isNegated)
                op = op == ">=" ? "<" : op == ">" ? "<=" : op == "<=" ? ">" : op == "<" ? ">=" : "";
            const bool isUpper = op == "<" || op == "<=";
            if (!isUpper && op != ">" && op != ">=")
                continue;
            const ExprId number = expr.children[isUpper ? 0 : 1];
            const ExprId limit = expr.children[isUpper ? 1 : 0];
            const IndexExpression* value = found_.digits->value(number);
            const IndexExpression* end = found_.digits->value(limit);
            const PositionSlice* slice = value ? found_.digits->sliceIn(*value) : nullptr;
            if (slice != nullptr && end != nullptr && found_.digits->isSize(*end))
                bounds_.push_back({*slice, limit, op.ends_with('='), clause});
        }
    }
    [[nodiscard]] const SliceBound* boundOf(const PositionSlice& slice) const {
        const auto found = std::ranges::find(bounds_, slice, &SliceBound::slice);
        return found == bounds_.end() ? nullptr : &*found;
    }

    /// The digits of the positions along an axis, lowest first; empty where the parts that the
    /// kernel asks for overlap.
    std::vector<PositionSlice> digitsOf(std::uint8_t axis) {
        std::vector<SizeProduct> cuts;
        const auto add = [&](const SizeProduct& cut) {
            if (!cut.isOne() && std::ranges::find(cuts, cut) == cuts.end())
                cuts.push_back(cut);
        };
        for (const PositionSlice& slice : found_.digits->slices()) {
            if (slice.axis != axis)
                continue;
            add(slice.low);
            if (slice.high)
                add(*slice.high);
        }
        std::vector<PositionSlice> result;
        SizeProduct low;
        while (!cuts.empty()) {
            const auto next = std::ranges::find_if(cuts, [&](const SizeProduct& cut) {
                return std::ranges::all_of(cuts, [&](const SizeProduct& other) {
                    return other.dividedBy(cut).has_value();
                });
            });
            if (next == cuts.end() || !next->dividedBy(low))
                return {};
            result.push_back({axis, low, *next});
            low = *next;
            cuts.erase(next);
        }
        result.push_back({axis, low, std::nullopt});
        return result;
    }

    /// `value` with each slice as a sum of digits; nullopt if a slice is not made of digits.
    std::optional<IndexExpression> overDigits(const IndexExpression& value) {
        IndexExpression result;
        for (const auto& [monomial, factor] : value.terms()) {
            IndexExpression term = IndexExpression::constant(factor);
            for (const Symbol symbol : monomial) {
                const PositionSlice* found = found_.digits->slice(symbol);
                if (found == nullptr) {
                    term = term * IndexExpression::symbol(symbol);
                    continue;
                }
                const PositionSlice slice = *found;
                IndexExpression sum;
                const auto digits = axes_.find(slice.axis);
                if (digits == axes_.end() || digits->second.empty())
                    return std::nullopt;
                for (const PositionSlice& digit : digits->second) {
                    const auto stride = digit.low.dividedBy(slice.low);
                    if (!stride ||
                        (slice.high && (!digit.high || !slice.high->dividedBy(*digit.high))))
                        continue;
                    IndexExpression part = IndexExpression::constant(stride->factor) *
                                           IndexExpression::symbol(found_.digits->intern(digit));
                    for (const Symbol size : stride->sizes)
                        part = part * IndexExpression::symbol(size);
                    sum = sum + part;
                }
                term = term * sum;
            }
            result = result + term;
            if (result.isTooLarge())
                return std::nullopt;
        }
        return result;
    }

    [[nodiscard]] bool follows(const Reach& reach, const PositionSlice& digit) {
        const auto factor =
            reach.index ? reach.index->coefficientOf(found_.digits->intern(digit)) : std::nullopt;
        return factor && factor->asConstant() == 1;
    }
    [[nodiscard]] bool dependsOn(const Reach& reach, const PositionSlice& digit) {
        return reach.index && reach.index->dependsOn(found_.digits->intern(digit));
    }

    Gated<void> chooseDigits() {
        std::set<std::uint8_t> axes;
        for (const PositionSlice& slice : found_.digits->slices())
            axes.insert(slice.axis);
        std::vector<PositionSlice> all;
        for (const std::uint8_t axis : axes) {
            axes_[axis] = digitsOf(axis);
            all.insert(all.end(), axes_[axis].begin(), axes_[axis].end());
        }
        for (Reach& reach : reaches_)
            if (reach.index)
                reach.index = overDigits(*reach.index);
        std::optional<PositionSlice> out;
        for (const PositionSlice& digit : all)
            if (!out && std::ranges::all_of(reaches_, [&](const Reach& reach) {
                    return !reach.isStore || follows(reach, digit);
                }))
                out = digit;
        if (!out)
            return refuse("no-store-axis",
                          fmt::format("no index tells that the stores of {} follow each other "
                                      "along some axis",
                                      kernel_.name));
        std::uint32_t most = 0;
        std::optional<PositionSlice> in;
        for (const PositionSlice& digit : all) {
            std::uint32_t bytes = 0;
            for (const Reach& reach : reaches_)
                if (!reach.isStore && follows(reach, digit) && dependsOn(reach, *out))
                    bytes += std::max(reach.width, 1U);
            const bool isStored = std::ranges::all_of(reaches_, [&](const Reach& reach) {
                return !reach.isStore || dependsOn(reach, digit);
            });
            if (digit != *out && isStored && bytes > most) {
                most = bytes;
                in = digit;
            }
        }
        if (!in)
            return refuse("not-crossed",
                          fmt::format("no loads of {} follow each other along another axis than "
                                      "its stores do",
                                      kernel_.name));
        found_.in.slice = widened(*in);
        found_.out.slice = widened(*out);
        for (CopyDigit* digit : {&found_.in, &found_.out})
            nameDigit(*digit);
        return {};
    }

    /// The digit merged with the higher ones that all loads and stores number through with it, such
    /// as the rows of a plane. A merged digit fills tiles whatever the length of a row.
    PositionSlice widened(PositionSlice digit) {
        std::vector<PositionSlice>& digits = axes_[digit.axis];
        while (!isLongEnough(digit)) {
            const auto above = std::ranges::find_if(digits, [&](const PositionSlice& other) {
                return digit.high && other.low == *digit.high;
            });
            if (above == digits.end() || !above->high)
                break;
            const Symbol low = found_.digits->intern(digit);
            const Symbol high = found_.digits->intern(*above);
            const SizeProduct extent = *digit.high->dividedBy(digit.low);
            IndexExpression rows = IndexExpression::constant(extent.factor);
            for (const Symbol size : extent.sizes)
                rows = rows * IndexExpression::symbol(size);
            const bool isOne = std::ranges::all_of(reaches_, [&](const Reach& reach) {
                if (!reach.index)
                    return true;
                const auto a = reach.index->coefficientOf(low);
                const auto b = reach.index->coefficientOf(high);
                return a && b && *b == *a * rows;
            });
            if (!isOne)
                break;
            const PositionSlice both{digit.axis, digit.low, above->high};
            const IndexExpression merged = IndexExpression::symbol(found_.digits->intern(both));
            for (Reach& reach : reaches_) {
                if (!reach.index)
                    continue;
                const IndexExpression factor = *reach.index->coefficientOf(low);
                reach.index = *reach.index - factor * IndexExpression::symbol(low) -
                              factor * rows * IndexExpression::symbol(high) + factor * merged;
            }
            digits.erase(above);
            *std::ranges::find(digits, digit) = both;
            digit = both;
        }
        return digit;
    }
    /// Whether the digit fills tiles by itself, or quotients of a longer one would cost more than
    /// idle lanes.
    [[nodiscard]] bool isLongEnough(const PositionSlice& digit) const {
        constexpr std::int64_t longRow = 128;
        if (!digit.high || hasWideIndices())
            return true;
        CopyDigit row;
        row.extent = digit.high->dividedBy(digit.low);
        return !kernel_.launches.empty() &&
               std::ranges::all_of(kernel_.launches, [&](const LaunchSite& launch) {
                   const auto extent = row.extent->sizes.empty() ? std::optional(row.extent->factor)
                                                                 : extentAt(row, launch);
                   return extent && (*extent % tileSide == 0 || *extent >= longRow);
               });
    }
    /// Whether positions are counted in 64 bits, whose quotients take many instructions.
    [[nodiscard]] bool hasWideIndices() const {
        return std::ranges::any_of(found_.element.statements, [&](StmtId id) {
            return std::ranges::any_of(body_.stmt(id).declared, [&](VariableId variable) {
                const Type& type = body_.variable(variable).type;
                return isIndexType(type) && type.size == 8 &&
                       found_.digits->held(variable) != nullptr;
            });
        });
    }

    /// A variable that holds the digit, or an expression that has it.
    void nameDigit(CopyDigit& digit) const {
        const auto is = [&](const IndexExpression* value) {
            const PositionSlice* slice = value ? found_.digits->sliceIn(*value) : nullptr;
            return slice != nullptr && *slice == digit.slice;
        };
        const VariableId ofLoop =
            found_.element.loop ? found_.element.loop->index : found_.element.strided;
        if (ofLoop != noId && is(found_.digits->held(ofLoop)))
            digit.variable = ofLoop;
        for (const StmtId id : found_.element.statements)
            for (const VariableId variable : body_.stmt(id).declared)
                if (digit.variable == noId && !code_.isEverWritten(variable) &&
                    body_.variable(variable).init != noId && is(found_.digits->held(variable)))
                    digit.variable = variable;
        for (ExprId id = 0; id < body_.exprs.size(); ++id)
            if (digit.example == noId && is(found_.digits->value(id)))
                digit.example = id;
    }

    [[nodiscard]] bool coversAll(const SliceBound& bound) const {
        if (found_.element.loop && found_.element.loop->axis == bound.slice.axis)
            return true; // As the edit launches it.
        const std::vector<std::size_t> axes = bound.slice.axis == flatAxis
                                                  ? std::vector<std::size_t>{0, 1}
                                                  : std::vector<std::size_t>{bound.slice.axis};
        return coversPositions(context_, axes, bound.limit, bound.isIncluded);
    }

    /// Tiles of positions that are numbered through.
    Gated<void> chooseLoop(const std::optional<Extents>& common) {
        const std::uint8_t axis = found_.in.slice.axis;
        if (axis != 0 && axis != flatAxis)
            return refuse(
                "position-not-along-x",
                fmt::format("the elements of {} are numbered along {}", kernel_.name, "xyz"[axis]));
        if (!common || (*common)[1] * (*common)[2] != 1 || (*common)[0] % tileSide != 0)
            return refuse("block-shape",
                          fmt::format("tiles are read by the warps of a block: {} is launched "
                                      "with blocks of {} x {} threads{}",
                                      kernel_.name, found_.block[0], found_.block[1],
                                      common ? "" : ", and with others"));
        found_.form = TileForm::Loop;
        KERNELSKILL_CHECK(requireKnownLaunches(context_));
        found_.isUnbounded = false;
        for (const PositionSlice& slice : axes_[axis]) {
            CopyDigit digit;
            digit.slice = slice;
            nameDigit(digit);
            KERNELSKILL_CHECK(setExtent(digit));
            if (slice == found_.in.slice)
                found_.in = digit;
            else if (slice == found_.out.slice)
                found_.out = digit;
            else
                found_.others.push_back(digit);
        }
        found_.resizesGrid = found_.element.strided == noId && !found_.isUnbounded &&
                             (*common)[0] < tileSide * tileSide &&
                             requireResizableGrids(context_).has_value();
        return {};
    }

    Gated<void> setExtent(CopyDigit& digit) {
        const PositionSlice& slice = digit.slice;
        if (slice.high) {
            digit.extent = slice.high->dividedBy(slice.low);
            return {};
        }
        const SliceBound* whole = boundOf({slice.axis, {}, std::nullopt});
        const SliceBound* end = whole != nullptr ? whole : boundOf(slice);
        const bool isCovered = end != nullptr && coversAll(*end);
        if (found_.element.strided == noId && !isCovered) {
            found_.isUnbounded = true;
            return {};
        }
        if (const SliceBound* bound = boundOf(slice); bound != nullptr && !slice.isWhole()) {
            digit.limit = bound->limit;
            digit.isLimitIncluded = bound->isIncluded;
            found_.element.guard[bound->clause].isImplied = true;
            return {};
        }
        digit.limit = whole->limit;
        digit.isLimitIncluded = whole->isIncluded;
        digit.isLimitOfWhole = true;
        const auto all = whole->isIncluded ? std::nullopt : found_.digits->product(whole->limit);
        if (const auto extent = all ? all->dividedBy(slice.low) : std::nullopt) {
            digit.extent = extent;
            found_.element.guard[whole->clause].isImplied = true;
        }
        return {};
    }

    /// Tiles that axes of the grid number.
    Gated<void> chooseBlocks(const std::optional<Extents>& common) {
        const std::array sides = {&found_.in, &found_.out};
        for (CopyDigit* digit : sides)
            if (!digit->slice.isWhole() || digit->slice.axis == flatAxis)
                return refuse("mixed-axes",
                              fmt::format("one side of a tile of {} would be an axis of the grid, "
                                          "the other a part of one",
                                          kernel_.name));
        const std::size_t in = found_.in.slice.axis;
        const std::size_t out = found_.out.slice.axis;
        const std::size_t other = 3 - in - out;
        if (found_.element.loop && found_.element.loop->axis == other)
            return refuse("loop", fmt::format("the loop over {} goes along no side of a tile",
                                              body_.variable(found_.element.loop->index).name));
        Gated<void> isGrid = requireResizableGrids(context_);
        if (kernel_.launchBoundsThreads.value_or(tileThreads) < tileThreads && isGrid)
            isGrid =
                refuse("launch-bounds", fmt::format("{} is compiled for blocks of {} threads",
                                                    kernel_.name, *kernel_.launchBoundsThreads));
        for (CopyDigit* digit : sides) {
            const SliceBound* bound = boundOf(digit->slice);
            if (bound != nullptr) {
                digit->limit = bound->limit;
                digit->isLimitIncluded = bound->isIncluded;
            }
            const auto isExact = [&](const Extents& block) {
                return block[digit->slice.axis] % tileSide == 0;
            };
            const bool isEnded = bound != nullptr && coversAll(*bound);
            if (!isEnded && !std::ranges::all_of(*blocks_, isExact) && isGrid)
                isGrid = refuse("no-bounds-guard",
                                fmt::format("the grid alone ends the positions of {} along {}, "
                                            "and larger blocks would have more",
                                            kernel_.name, "xyz"[digit->slice.axis]));
            for (const Extents& block : *blocks_)
                if (digit->slice.axis != 0 && block[digit->slice.axis] > tileSide && isGrid)
                    isGrid = refuse("grid-limit", "a grid along y has at most 65,535 blocks");
        }
        if (isGrid) {
            found_.form = TileForm::Grid;
            return {};
        }
        for (const Extents& block : *blocks_)
            if (block[other] != 1)
                return refuse("block-shape",
                              fmt::format("blocks of {} have {} threads along {}, which is no "
                                          "side of a tile",
                                          kernel_.name, block[other], "xyz"[other]));
        if (!common || (*common)[in] < minBlockSide || (*common)[out] < minBlockSide)
            return isGrid;
        KERNELSKILL_CHECK(requireKnownLaunches(context_));
        found_.form = TileForm::Block;
        return {};
    }

    [[nodiscard]] std::optional<std::int64_t> extentAt(const CopyDigit& digit,
                                                       const LaunchSite& launch) const {
        if (launch.host >= context_.file.hostFunctions.size())
            return std::nullopt;
        const LaunchValues values(context_.shared(), launch);
        if (digit.extent) {
            std::int64_t extent = digit.extent->factor;
            for (const Symbol symbol : digit.extent->sizes) {
                if (symbol.kind != SymbolKind::Parameter || code_.uses(symbol.id).empty())
                    return std::nullopt;
                const auto value = values.of(code_.uses(symbol.id).front());
                if (!value || *value <= 0 || extent > largeMultiple * largeMultiple)
                    return std::nullopt;
                extent *= *value;
            }
            return extent;
        }
        if (digit.limit == noId || (digit.isLimitOfWhole && !digit.slice.isWhole()))
            return std::nullopt;
        return values.of(digit.limit);
    }

    Gated<void> requireLongAxes() const {
        for (CopyDigit digit : {found_.in, found_.out}) {
            const SliceBound* whole = boundOf({digit.slice.axis, {}, std::nullopt});
            if (!digit.extent && whole != nullptr)
                if (const auto all = found_.digits->product(whole->limit))
                    digit.extent = all->dividedBy(digit.slice.low);
            for (const LaunchSite& launch : kernel_.launches)
                if (const auto extent = extentAt(digit, launch); extent && *extent < minExtent)
                    return refuse("short-axis",
                                  fmt::format("a tile has {} rows, and {} has {} elements along "
                                              "one of its axes",
                                              tileSide, kernel_.name, *extent));
        }
        return {};
    }

    [[nodiscard]] double sectors(const Reach& reach, const LaneValues& lanes) const {
        if (!reach.index || reach.width == 0)
            return 0;
        std::set<std::int64_t> touched;
        const auto width = static_cast<std::int64_t>(reach.width);
        for (const auto& lane : lanes) {
            std::int64_t element = 0;
            for (const auto& [monomial, factor] : reach.index->terms()) {
                std::int64_t term = factor;
                for (const Symbol symbol : monomial) {
                    const auto known = lane.find(symbol);
                    if (known != lane.end())
                        term *= known->second;
                    else if (found_.digits->slice(symbol) != nullptr ||
                             symbol.kind == SymbolKind::BlockIdx ||
                             symbol.kind == SymbolKind::ThreadIdx)
                        term = 0;
                    else if (term > -(std::int64_t{1} << 40) && term < (std::int64_t{1} << 40))
                        term *= largeMultiple;
                }
                element += term;
            }
            for (std::int64_t byte = element * width; byte < (element + 1) * width;
                 byte += std::min(width, sectorBytes))
                touched.insert(byte / sectorBytes);
        }
        return static_cast<double>(touched.size());
    }

    /// The digits of a block's first warp as the program launches it.
    LaneValues asLaunched() {
        LaneValues lanes(warpLanes);
        for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
            const auto number = static_cast<std::int64_t>(lane);
            const Extents& block = found_.block;
            const std::array along = {number % block[0], number / block[0] % block[1],
                                      number / (block[0] * block[1])};
            for (const auto& [axis, digits] : axes_) {
                std::int64_t rest = along[axis == flatAxis ? 0 : axis];
                for (const PositionSlice& digit : digits) {
                    const auto extent =
                        digit.high ? digit.high->dividedBy(digit.low) : std::nullopt;
                    const bool isKnown = extent && extent->sizes.empty();
                    lanes[lane][found_.digits->intern(digit)] =
                        isKnown ? rest % extent->factor : rest;
                    rest = isKnown ? rest / extent->factor : 0;
                }
            }
        }
        return lanes;
    }
    /// The digits of a warp whose lanes run along `first`, and then along `second`.
    LaneValues along(const CopyDigit& first, const CopyDigit& second) {
        const std::int64_t width =
            found_.form == TileForm::Block ? found_.block[first.slice.axis] : tileSide;
        LaneValues lanes(warpLanes);
        for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
            const auto number = static_cast<std::int64_t>(lane);
            lanes[lane][found_.digits->intern(first.slice)] = number % width;
            lanes[lane][found_.digits->intern(second.slice)] = number / width;
        }
        return lanes;
    }

    Gated<void> chooseSides() {
        const LaneValues before = asLaunched();
        const LaneValues loading = along(found_.in, found_.out);
        const LaneValues storing = along(found_.out, found_.in);
        double stores = 0;
        double allLoading = 0;
        double eachBest = 0;
        std::vector<ExprId> staged;
        bool canStage = true;
        for (const Reach& reach : reaches_) {
            found_.sectorsBefore += sectors(reach, before);
            if (reach.isStore) {
                stores += sectors(reach, storing);
                continue;
            }
            const double asLoad = sectors(reach, loading);
            const double asStore = sectors(reach, storing);
            allLoading += asLoad;
            eachBest += std::min(asLoad, asStore);
            if (asLoad >= asStore)
                continue;
            const ExprId whole = wholeLoad(reach.expression);
            canStage = canStage && isAlways(whole);
            if (std::ranges::none_of(
                    staged, [&](ExprId known) { return code_.sameExpression(known, whole); }))
                staged.push_back(whole);
        }
        const bool stagesLoads = eachBest < allLoading && canStage && !staged.empty();
        if (stagesLoads)
            found_.staged = std::move(staged);
        found_.sectorsAfter = stores + (stagesLoads ? eachBest : allLoading);
        if (found_.sectorsAfter * minGain > found_.sectorsBefore)
            return refuse("no-fewer-sectors",
                          fmt::format("a warp would still touch {:.0f} sectors where it touches "
                                      "{:.0f}",
                                      found_.sectorsAfter, found_.sectorsBefore));
        return {};
    }

    /// The load with the __ldg around it.
    [[nodiscard]] ExprId wholeLoad(ExprId load) const {
        const ExprId outer = code_.parent(load);
        const bool isCall = outer != noId && body_.expr(outer).kind == ExprKind::Call;
        return isCall && body_.expr(load).type.pointerDepth > 0 ? outer : load;
    }
    /// Whether every thread within the guard evaluates the expression.
    [[nodiscard]] bool isAlways(ExprId id) const {
        const StmtId statement = code_.statement(id);
        if (std::ranges::find(found_.element.statements, statement) ==
                found_.element.statements.end() ||
            body_.stmt(statement).kind == StmtKind::If)
            return false;
        for (ExprId at = id; at != noId; at = code_.parent(at)) {
            const Expr& expr = body_.expr(at);
            if (expr.kind == ExprKind::Conditional || expr.op == "&&" || expr.op == "||")
                return false;
        }
        return true;
    }

    /// Refuses if a load may see another thread's store.
    Gated<void> requireOwnMemory() const {
        for (const Reach& store : reaches_) {
            if (!store.isStore)
                continue;
            if (store.base != noId && body_.variable(store.base).type.isVolatile)
                return refuse("volatile", fmt::format("{} points to volatile memory",
                                                      body_.variable(store.base).name));
            for (const Reach& other : reaches_)
                if (&other != &store && (other.base == store.base || other.base == noId))
                    return refuse("in-place",
                                  fmt::format("the load on line {} may see what the store on line "
                                              "{} left",
                                              line(body_.expr(other.expression).span),
                                              line(body_.expr(store.expression).span)));
        }
        return requireDistinctWrites(context_);
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    Gated<std::vector<Extents>> blocks_;
    CrossedCopy found_;
    std::vector<Reach> reaches_;
    std::vector<SliceBound> bounds_;
    std::map<std::uint8_t, std::vector<PositionSlice>> axes_; ///< Digits, lowest first.
};

} // namespace

Gated<CrossedCopy> crossedCopy(const SkillContext& context) {
    return CopyFinder(context).find();
}

} // namespace kernelskill::skills
