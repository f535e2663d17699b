#include "engine/diagnosis/warp_view.h"

#include "analysis/features/lane_requests.h"
#include "analysis/features/warp_access.h"
#include "analysis/model/integer_arithmetic.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/wrapping_numbers.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// The block of the warp in each direction, away from the border of the grid.
constexpr std::int64_t innerBlock = 3;
/// A multiple of every alignment that matters.
constexpr std::int64_t sizeUnit = 1024;
/// Sizes are told apart, so that their differences are sizes as well; the first parameters are the
/// largest, as a width stands before a radius.
constexpr std::int64_t mostSizes = 48;
constexpr std::int64_t smallestSize = 16;
constexpr int maxDepth = 16;

/// At the best alignment: a base off a sector's beginning costs one more for each row of lanes.
double leastSectorsOf(const std::vector<std::int64_t>& addresses, std::int64_t width) {
    double least = sectorsOf(addresses, width);
    for (std::int64_t shift = width; shift < sectorBytes; shift += width)
        least = std::min(least, sectorsOf(addresses, width, shift));
    return least;
}

/// The bytes that one instruction loads of an element: a class that no instruction holds is loaded
/// by its parts.
std::uint32_t requestWidth(const NestArray& array, std::uint32_t width) {
    if (width != array.elementSize)
        return width;
    const std::uint32_t part = array.lanes == 3 ? width / 3 : 4;
    const bool isClass = array.scalar == ScalarKind::Unknown && array.lanes == 1;
    return array.lanes == 3 || (isClass && width > part) ? part : width;
}

/// The names of parameters that are the distance of lanes and may be any, also 1, as in BLAS. A
/// parameter by which some access walks in rounds of a loop as well is the length of a row.
std::set<std::string> openStrides(const KernelModel& kernel, const Nest& nest) {
    std::set<std::string> strides;
    for (const MemoryAccess& access : kernel.accesses)
        if (const auto open = openStride(kernel, access))
            strides.insert(kernel.body.variable(*open).name);
    for (const NestAccess& access : nest.accesses) {
        if (!access.index || !nest.symbols.contains(*access.index, NestSymbolKind::Iterator))
            continue;
        for (const auto& [monomial, factor] : access.index->terms())
            for (const Symbol symbol : monomial)
                if (const NestSymbol* named = nest.symbols.find(symbol))
                    strides.erase(named->name);
    }
    return strides;
}

/// The parameters by which an index multiplies or divides the fastest digit of a flat position, as
/// those of a pooling and an enlargement do. They may be any, also 1. Where another digit goes on
/// by single elements, the parameter is the length of a row.
class DigitStrides {
public:
    explicit DigitStrides(const Nest& nest) : nest_(nest) {}

    std::set<std::string> find() {
        for (const NestAccess& access : nest_.accesses)
            if (access.index)
                read(*access.index);
        for (const NestAccess& access : nest_.accesses)
            if (access.index)
                for (const auto& [monomial, factor] : access.index->terms())
                    dropLengths(monomial);
        for (const NestNode& node : nest_.nodes)
            if (const NestLoop* loop = node.loop(); loop != nullptr && loop->first)
                readBeginning(*loop->first, 0);
        return std::move(found_);
    }

private:
    [[nodiscard]] const NestSymbol* parameter(Symbol symbol) const {
        const NestSymbol* named = nest_.symbols.find(symbol);
        return named != nullptr && named->kind == NestSymbolKind::Parameter ? named : nullptr;
    }
    /// Whether the symbol is what is left of a flat position within a row.
    [[nodiscard]] bool isFastDigit(Symbol symbol) const {
        const NestSymbol* named = nest_.symbols.find(symbol);
        return named != nullptr && named->kind == NestSymbolKind::Derived && named->op == "%" &&
               named->operands.size() == 2 &&
               std::ranges::any_of(named->operands[0].terms(), [&](const auto& term) {
                   return term.second == 1 && term.first.size() == 1 && isPosition(term.first[0]);
               });
    }
    [[nodiscard]] bool isPosition(Symbol symbol) const {
        const NestSymbol* named = nest_.symbols.find(symbol);
        if (named == nullptr)
            return symbol.kind == SymbolKind::ThreadIdx && symbol.id == 0;
        return (named->kind == NestSymbolKind::Position && named->axis == 0) ||
               (named->kind == NestSymbolKind::Iterator && isOfGrid(symbol));
    }
    /// Whether the symbol counts the rounds that the threads of the grid share along x.
    [[nodiscard]] bool isOfGrid(Symbol iterator) const {
        return std::ranges::any_of(nest_.nodes, [&](const NestNode& node) {
            const NestLoop* loop = node.loop();
            return loop != nullptr && loop->iterator == iterator &&
                   loop->style == NestLoopStyle::GridStride && loop->axis == 0;
        });
    }

    void read(const IndexExpression& index) {
        const bool hasUnitDigit = std::ranges::any_of(index.terms(), [&](const auto& term) {
            const NestSymbol* named =
                term.first.size() == 1 ? nest_.symbols.find(term.first[0]) : nullptr;
            return named != nullptr && named->kind == NestSymbolKind::Derived &&
                   !nest_.symbols.isLaunchConstant(term.first[0]);
        });
        for (const auto& [monomial, factor] : index.terms()) {
            if (monomial.size() == 2 && !hasUnitDigit && !walksByLengths(index))
                for (const std::size_t at : {0, 1})
                    if (const NestSymbol* by = parameter(monomial[at]);
                        by != nullptr && isFastDigit(monomial[1 - at]))
                        found_.insert(by->name);
            for (const Symbol symbol : monomial)
                readQuotient(symbol, 0);
        }
    }

    /// Whether rounds of loops go on by parameters alone: then a digit may choose the row.
    [[nodiscard]] bool walksByLengths(const IndexExpression& index) const {
        bool isWalked = false;
        for (const auto& [monomial, factor] : index.terms())
            for (const Symbol symbol : monomial)
                if (const NestSymbol* named = nest_.symbols.find(symbol);
                    named != nullptr && named->kind == NestSymbolKind::Iterator) {
                    if (monomial.size() == 1)
                        return false;
                    isWalked = true;
                }
        return isWalked;
    }

    /// `(i % (width * by)) / by`: the digit of a row that was made longer.
    void readQuotient(Symbol symbol, int depth) {
        const NestSymbol* named = nest_.symbols.find(symbol);
        if (named == nullptr || named->kind != NestSymbolKind::Derived || depth > maxDepth)
            return;
        if (named->op == "/" && named->operands.size() == 2) {
            const auto& divisor = named->operands[1].terms();
            const NestSymbol* by = divisor.size() == 1 && divisor.begin()->first.size() == 1
                                       ? parameter(divisor.begin()->first[0])
                                       : nullptr;
            for (const auto& [monomial, factor] : named->operands[0].terms())
                if (by != nullptr && monomial.size() == 1 && isFastDigit(monomial[0]) &&
                    nest_.symbols.find(monomial[0])
                        ->operands[1]
                        .dependsOn(divisor.begin()->first[0]))
                    found_.insert(by->name);
        }
        for (const IndexExpression& operand : named->operands)
            for (const auto& [monomial, factor] : operand.terms())
                for (const Symbol part : monomial)
                    readQuotient(part, depth + 1);
    }

    /// A loop that begins at `(i % width + shift) / by` goes to the windows around an element,
    /// which are `by` apart.
    void readBeginning(const IndexExpression& beginning, int depth) {
        if (depth > maxDepth)
            return;
        for (const auto& [monomial, factor] : beginning.terms())
            for (const Symbol symbol : monomial) {
                const NestSymbol* named = nest_.symbols.find(symbol);
                if (named == nullptr || named->kind != NestSymbolKind::Derived)
                    continue;
                if (named->op == "/" && named->operands.size() == 2)
                    readWindow(named->operands[0], named->operands[1]);
                for (const IndexExpression& operand : named->operands)
                    readBeginning(operand, depth + 1);
            }
    }
    void readWindow(const IndexExpression& place, const IndexExpression& distance) {
        const auto& divisor = distance.terms();
        const NestSymbol* by = divisor.size() == 1 && divisor.begin()->first.size() == 1
                                   ? parameter(divisor.begin()->first[0])
                                   : nullptr;
        if (by != nullptr && std::ranges::any_of(place.terms(), [&](const auto& term) {
                return term.second == 1 && term.first.size() == 1 && isFastDigit(term.first[0]);
            }))
            found_.insert(by->name);
    }

    /// By what rounds of a loop go on is no distance of lanes.
    void dropLengths(const std::vector<Symbol>& monomial) {
        const bool isOfLoop = std::ranges::any_of(monomial, [&](Symbol symbol) {
            const NestSymbol* named = nest_.symbols.find(symbol);
            return named != nullptr && named->kind == NestSymbolKind::Iterator;
        });
        for (const Symbol symbol : monomial)
            if (const NestSymbol* named = parameter(symbol); isOfLoop && named != nullptr)
                found_.erase(named->name);
    }

    const Nest& nest_;
    std::set<std::string> found_;
};

} // namespace

WarpView::WarpView(const FileModel& file, const KernelModel& kernel)
    : file_(file), kernel_(kernel), nest_(nestOf(file, kernel)), reaches_(nest_->accesses.size()),
      isOpen_(nest_->accesses.size(), 0) {
    for (NestNodeId node = 0; node < nest_->nodes.size(); ++node)
        if (const NestLoop* loop = nest_->node(node).loop())
            loops_.emplace(loop->iterator, node);
    for (NestAccessId id = 0; id < nest_->accesses.size(); ++id) {
        const NestAccess& access = nest_->accesses[id];
        if (access.array == noId || !nest_->arrays[access.array].isVariable)
            loads_.try_emplace({access.frame, access.expression}, id);
    }
    std::set<std::string> strides = openStrides(kernel, *nest_);
    strides.merge(DigitStrides(*nest_).find());
    std::int64_t size = mostSizes;
    for (std::uint32_t id = 0; id < nest_->symbols.all().size(); ++id) {
        const NestSymbol& symbol = nest_->symbols.all()[id];
        if (symbol.kind != NestSymbolKind::Parameter)
            continue;
        sizes_[{SymbolKind::Named, id}] = strides.contains(symbol.name) ? 1 : size * sizeUnit;
        size = std::max(size - 1, smallestSize);
    }
}

const KernelModel& WarpView::functionOf(std::uint32_t frame) const {
    return analysis::functionOf(file_, kernel_, nest_->frames.at(frame));
}

Dependence WarpView::dependenceOf(std::uint32_t frame, ExprId expression) const {
    auto& known = dependences_[frame];
    if (known == nullptr)
        known = std::make_unique<DependenceAnalysis>(functionOf(frame).body);
    // A device function does not tell what its arguments depend on.
    return frame == 0 ? known->of(expression)
                      : known->of(expression) | Dependence{.onThread = true, .onData = false};
}

WarpView::Thread WarpView::lane(int number) const {
    // A block narrower than a warp wraps into y, then z.
    const std::int64_t width = nest_->extents.block[0].value_or(largestBlock);
    const std::int64_t height = nest_->extents.block[1].value_or(largestBlock);
    Thread thread;
    thread.index = {number % width, (number / width) % height, number / (width * height)};
    return thread;
}

const NestLoop* WarpView::loopOf(Symbol iterator) const {
    const auto found = loops_.find(iterator);
    return found == loops_.end() ? nullptr : nest_->node(found->second).loop();
}

std::optional<std::int64_t> WarpView::evaluate(const IndexExpression& expression,
                                               const Thread& thread, Unknown& why,
                                               int depth) const {
    if (depth > maxDepth)
        return std::nullopt;
    // As numbers of 64 bits without a sign, which may wrap around.
    std::uint64_t sum = 0;
    for (const auto& [monomial, coefficient] : expression.terms()) {
        auto product = static_cast<std::uint64_t>(coefficient);
        for (const Symbol symbol : monomial) {
            const auto value = valueOf(symbol, thread, why, depth + 1);
            if (!value)
                return std::nullopt;
            product *= static_cast<std::uint64_t>(*value);
        }
        sum += product;
    }
    return static_cast<std::int64_t>(sum);
}

std::optional<std::int64_t> WarpView::valueOf(Symbol symbol, const Thread& thread, Unknown& why,
                                              int depth) const {
    const auto axis = std::min<std::size_t>(symbol.id, 2);
    switch (symbol.kind) {
    case SymbolKind::ThreadIdx:
        return thread.index.at(axis);
    case SymbolKind::BlockIdx:
        return innerBlock;
    case SymbolKind::BlockDim:
        return nest_->extents.block.at(axis).value_or(largestBlock);
    case SymbolKind::GridDim:
        return nest_->extents.grid.at(axis).value_or(mostSizes * sizeUnit);
    default:
        break;
    }
    if (thread.overridden != nullptr && *thread.overridden == symbol)
        return thread.value;
    const NestSymbol* named = nest_->symbols.find(symbol);
    if (named == nullptr)
        return mostSizes * sizeUnit;
    switch (named->kind) {
    case NestSymbolKind::Parameter: {
        const auto given = nest_->instantiation.find(named->name);
        if (given != nest_->instantiation.end() && !given->second.empty() &&
            given->second.size() < 10 &&
            given->second.find_first_not_of("0123456789") == std::string::npos)
            return std::stoll(given->second);
        const auto size = sizes_.find(symbol);
        return size == sizes_.end() ? mostSizes * sizeUnit : size->second;
    }
    case NestSymbolKind::Position:
        return innerBlock * nest_->extents.block.at(named->axis).value_or(largestBlock) +
               thread.index.at(named->axis);
    case NestSymbolKind::Iterator: {
        const NestLoop* loop = loopOf(symbol);
        if (loop == nullptr || !loop->first)
            return 0;
        const auto first = evaluate(*loop->first, thread, why, depth);
        if (!first && why == Unknown::Indirect)
            why = Unknown::Ragged;
        // A loop around a point begins before it: its middle is at the point.
        return first && *first < 0 ? std::optional<std::int64_t>(0) : first;
    }
    case NestSymbolKind::Derived:
        return derived(*named, thread, why, depth);
    case NestSymbolKind::Value:
        break;
    }
    if (!varies(*named))
        return 1; // Not zero, for it may be a factor.
    why = Unknown::Indirect;
    return std::nullopt;
}

std::optional<std::int64_t> WarpView::derived(const NestSymbol& symbol, const Thread& thread,
                                              Unknown& why, int depth) const {
    if (symbol.op == "select" && symbol.operands.size() == 2 && !symbol.choice.empty()) {
        const bool chosen = holds(symbol.choice.front(), thread, depth).value_or(true);
        return evaluate(symbol.operands[chosen ? 0 : 1], thread, why, depth);
    }
    std::vector<std::int64_t> values;
    for (const IndexExpression& operand : symbol.operands) {
        const auto value = evaluate(operand, thread, why, depth);
        if (!value)
            return std::nullopt;
        values.push_back(*value);
    }
    if (symbol.op == "abs" && values.size() == 1)
        return std::abs(values[0]);
    if (values.size() != 2)
        return std::nullopt;
    if (symbol.op == "min")
        return std::min(values[0], values[1]);
    if (symbol.op == "max")
        return std::max(values[0], values[1]);
    return integerResult(symbol.op, values[0], values[1]);
}

std::optional<bool> WarpView::holds(const NestCondition& condition, const Thread& thread,
                                    int depth) const {
    using Kind = NestCondition::Kind;
    if (depth > maxDepth)
        return std::nullopt;
    switch (condition.kind) {
    case Kind::Always:
        return true;
    case Kind::Never:
        return false;
    case Kind::All:
    case Kind::Any: {
        const bool decides = condition.kind == Kind::Any;
        bool isKnown = true;
        for (const NestCondition& part : condition.parts) {
            const auto held = holds(part, thread, depth + 1);
            if (held && *held == decides)
                return decides;
            isKnown = isKnown && held.has_value();
        }
        return isKnown ? std::optional(!decides) : std::nullopt;
    }
    case Kind::Unknown:
        return std::nullopt;
    case Kind::NotNegative:
    case Kind::Zero:
    case Kind::NotZero:
        break;
    }
    Unknown why = Unknown::No;
    const auto value = evaluate(condition.expression, thread, why, depth + 1);
    if (!value)
        return std::nullopt;
    return condition.kind == Kind::NotNegative ? *value >= 0
           : condition.kind == Kind::Zero      ? *value == 0
                                               : *value != 0;
}

std::vector<NestNodeId> WarpView::guardsOf(NestAccessId id) const {
    std::vector<NestNodeId> guards = around(*nest_, nest_->accesses[id].node);
    std::erase_if(guards, [&](NestNodeId node) { return nest_->node(node).guard() == nullptr; });
    return guards;
}

bool WarpView::isLetOn(const NestCondition& condition, const std::vector<NestNodeId>& guards,
                       const Thread& thread) const {
    if (!holds(condition, thread).value_or(true))
        return false;
    return std::ranges::all_of(guards, [&](NestNodeId node) {
        if (const auto held = holds(nest_->node(node).guard()->condition, thread))
            return *held;
        // A thread's rank that is not followed chooses one lane; data let on any of them.
        return !isOfRank(node) || thread.index == std::array<std::int64_t, 3>{};
    });
}

bool WarpView::asksForSize(const NestCondition& condition) const {
    return nest_->symbols.contains(condition.expression, NestSymbolKind::Parameter) ||
           std::ranges::any_of(condition.parts,
                               [&](const NestCondition& part) { return asksForSize(part); });
}

bool WarpView::isKeptOutBySize(const NestCondition& condition,
                               const std::vector<NestNodeId>& guards) const {
    for (int number = 0; number < warpLanes; ++number)
        if (isLetOn(condition, guards, lane(number)))
            return false;
    return std::ranges::any_of(
        guards, [&](NestNodeId node) { return asksForSize(nest_->node(node).guard()->condition); });
}

bool WarpView::isOfRank(NestNodeId node) const {
    const ExprId condition = conditionOf(node);
    if (condition == noId)
        return false;
    const std::uint32_t frame = nest_->node(node).frame;
    const FunctionBody& body = functionOf(frame).body;
    const Dependence dependence = dependenceOf(frame, condition);
    const Span span = body.expr(condition).span;
    const bool asksAtomic = std::ranges::any_of(body.exprs, [&](const Expr& expr) {
        return expr.kind == ExprKind::Call && span.contains(expr.span) &&
               expr.name.starts_with("atomic");
    });
    return frame == 0 && dependence.onThread && !dependence.onData && !asksAtomic &&
           body.expr(condition).kind == ExprKind::Binary && body.expr(condition).op == "==";
}

ExprId WarpView::conditionOf(NestNodeId id) const {
    const NestNode& node = nest_->node(id);
    const FunctionBody& body = functionOf(node.frame).body;
    for (StmtId stmt = node.statement; stmt != noId; stmt = body.stmt(stmt).parent) {
        const StmtKind kind = body.stmt(stmt).kind;
        if (kind == StmtKind::If || kind == StmtKind::Switch || kind == StmtKind::While ||
            kind == StmtKind::Do || kind == StmtKind::For)
            return body.stmt(stmt).condition;
    }
    return noId;
}

bool WarpView::varies(const NestSymbol& symbol) const {
    const auto known = varies_.find(&symbol);
    if (known != varies_.end())
        return known->second;
    varies_.emplace(&symbol, true); // While it is found out.
    return varies_[&symbol] = mayVary(symbol);
}

bool WarpView::mayVary(const NestSymbol& symbol) const {
    if (symbol.expression != noId) {
        const auto load = loads_.find({symbol.frame, symbol.expression});
        if (load != loads_.end())
            return isOpen_[load->second] != 0 || !reach(load->second).isUniform;
        return dependenceOf(symbol.frame, symbol.expression).onThread;
    }
    const ExprId use = useOf(symbol);
    return use == noId || dependenceOf(symbol.frame, use).onThread;
}

bool WarpView::dependsOnData(const NestSymbol& value) const {
    const ExprId expression = value.expression != noId ? value.expression : useOf(value);
    return expression == noId || dependenceOf(value.frame, expression).onData;
}

ExprId WarpView::useOf(const NestSymbol& value) const {
    if (value.variable == noId)
        return noId;
    const FunctionBody& body = functionOf(value.frame).body;
    for (ExprId id = 0; id < body.exprs.size(); ++id)
        if (body.exprs[id].kind == ExprKind::Variable && body.exprs[id].variable == value.variable)
            return id;
    return noId;
}

bool WarpView::varies(const IndexExpression& expression) const {
    Unknown why = Unknown::No;
    const auto first = evaluate(expression, lane(0), why);
    for (int number = 1; first && number < warpLanes; ++number)
        if (evaluate(expression, lane(number), why) != first)
            return true;
    return !first;
}

std::optional<std::int64_t> WarpView::addressOf(NestAccessId id, const Thread& thread,
                                                Unknown& why) const {
    const NestAccess& access = nest_->accesses[id];
    if (!access.index || access.unit == 0) {
        why = Unknown::Indirect;
        return std::nullopt;
    }
    const auto index = evaluate(*access.index, thread, why);
    if (!index && why == Unknown::No)
        why = Unknown::Indirect;
    return index ? std::optional(wrappedProduct(*index, access.unit)) : std::nullopt;
}

const WarpReach& WarpView::reach(NestAccessId access) const {
    if (!reaches_[access]) {
        isOpen_[access] = 1;
        reaches_[access] = reachOf(access);
        isOpen_[access] = 0;
    }
    return *reaches_[access];
}

WarpReach WarpView::reachOf(NestAccessId id) const {
    const NestAccess& access = nest_->accesses[id];
    WarpReach reach;
    if (access.array == noId) {
        reach.isIndirect = true;
        return reach;
    }
    const NestArray& array = nest_->arrays[access.array];
    constexpr std::uint32_t assumedWidth = 4; // The type may be a template parameter.
    const std::uint32_t width = access.width > 0 ? access.width : assumedWidth;
    reach.width = access.field.empty() ? requestWidth(array, width) : width;
    std::vector<std::int64_t> addresses;
    const std::vector<NestNodeId> guards = guardsOf(id);
    const bool ignoresConditions = isKeptOutBySize(access.condition, guards);
    for (int number = 0; number < warpLanes; ++number) {
        const Thread thread = lane(number);
        if (!ignoresConditions && !isLetOn(access.condition, guards, thread))
            continue;
        Unknown why = Unknown::No;
        const auto address = access.unit == 0 && access.index && !array.isVariable
                                 ? evaluate(*access.index, thread, why)
                                 : addressOf(id, thread, why);
        if (!address) {
            reach.isRagged = why == Unknown::Ragged;
            reach.isIndirect = !reach.isRagged;
            return reach;
        }
        addresses.push_back(access.unit == 0 ? wrappedProduct(*address, assumedWidth) : *address);
    }
    reach.lanes = static_cast<int>(addresses.size());
    if (addresses.empty())
        return reach;
    reach.isUniform = std::ranges::all_of(
        addresses, [&](std::int64_t address) { return address == addresses.front(); });
    if (addresses.size() > 1) {
        reach.stride = wrappedDifference(addresses[1], addresses[0]);
        for (std::size_t lane = 1; lane < addresses.size(); ++lane)
            if (wrappedDifference(addresses[lane], addresses[lane - 1]) != *reach.stride)
                reach.stride.reset();
    }
    reach.sectors = leastSectorsOf(addresses, reach.width);
    // Each row of the block begins a sector of its own.
    const std::int64_t blockWidth = nest_->extents.block[0].value_or(largestBlock);
    const double rows = blockWidth < warpLanes ? std::ceil(warpLanes / double(blockWidth)) : 1;
    const double bytes = static_cast<double>(addresses.size() * reach.width);
    reach.least = std::max(rows * std::ceil(bytes / rows / sectorBytes), 1.0);
    reach.wavefronts = wavefrontsOf(addresses, reach.width);
    return reach;
}

std::optional<std::int64_t> WarpView::step(NestAccessId access, NestNodeId node) const {
    const NestLoop* loop = nest_->node(node).loop();
    if (loop == nullptr)
        return std::nullopt;
    Thread thread = lane(0);
    Unknown why = Unknown::No;
    const auto by =
        loop->step ? evaluate(*loop->step, thread, why) : std::optional<std::int64_t>(1);
    const auto begin = loop->first ? evaluate(*loop->first, thread, why) : std::nullopt;
    if (!by)
        return std::nullopt;
    thread.overridden = &loop->iterator;
    thread.value = std::max<std::int64_t>(begin.value_or(0), 0);
    const auto before = addressOf(access, thread, why);
    thread.value = wrappedSum(thread.value, *by);
    const auto after = addressOf(access, thread, why);
    return before && after ? std::optional(wrappedDifference(*after, *before)) : std::nullopt;
}

std::optional<std::int64_t> WarpView::distance(NestAccessId from, NestAccessId to) const {
    std::optional<std::int64_t> distance;
    for (int number = 0; number < warpLanes; ++number) {
        Unknown why = Unknown::No;
        const auto a = addressOf(from, lane(number), why);
        const auto b = addressOf(to, lane(number), why);
        if (!a || !b || (distance && *distance != wrappedDifference(*b, *a)))
            return std::nullopt;
        distance = wrappedDifference(*b, *a);
    }
    return distance;
}

std::optional<std::int64_t> WarpView::strideAlongY(NestAccessId access) const {
    Thread thread;
    Unknown why = Unknown::No;
    const auto here = addressOf(access, thread, why);
    thread.index[1] = 1;
    const auto there = addressOf(access, thread, why);
    return here && there ? std::optional(wrappedDifference(*there, *here)) : std::nullopt;
}

bool WarpView::isOfFirstWarp(NestAccessId id) const {
    const std::vector<NestNodeId> guards = guardsOf(id);
    const NestCondition& condition = nest_->accesses[id].condition;
    const int second = static_cast<int>(warpLanes);
    return isLetOn(condition, guards, lane(0)) && !isLetOn(condition, guards, lane(second));
}

std::optional<bool> WarpView::dividesWarps(const NestCondition& condition) const {
    for (const int warp : {0, 1}) {
        std::optional<bool> first;
        bool differs = false;
        for (int number = 0; number < warpLanes; ++number) {
            const auto held = holds(condition, lane(warp * static_cast<int>(warpLanes) + number));
            if (!held)
                return std::nullopt;
            differs = differs || (first && *first != *held);
            first = held;
        }
        if (!differs)
            return false;
    }
    return true;
}

std::optional<std::int64_t> WarpView::rounds(NestNodeId node) const {
    const NestLoop* loop = nest_->node(node).loop();
    if (loop == nullptr || loop->mayStop || !loop->first || !loop->end || !loop->step)
        return std::nullopt;
    const auto span = (*loop->end - *loop->first).asConstant();
    const auto by = loop->step->asConstant();
    if (!span || !by || *by == 0)
        return std::nullopt;
    const std::int64_t count = (std::abs(*span) + std::abs(*by) - 1) / std::abs(*by);
    return (*span > 0) == (*by > 0) ? count : 0;
}

} // namespace kernelskill::engine
