#include "skills/shared-memory-transpose/position_digits.h"

#include "analysis/queries/index_arithmetic.h"
#include "skills/gates/thread_position.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>
#include <system_error>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Named symbols from here on are sizes, those before it are slices.
constexpr std::uint32_t firstAtom = 1U << 16U;
constexpr int maxPointerDepth = 16;

IndexExpression symbolValue(SymbolKind kind, std::uint32_t id) {
    return IndexExpression::symbol({kind, id});
}

IndexExpression term(const Monomial& monomial, std::int64_t factor) {
    IndexExpression result = IndexExpression::constant(factor);
    for (const Symbol symbol : monomial)
        result = result * IndexExpression::symbol(symbol);
    return result;
}

} // namespace

SizeProduct SizeProduct::operator*(const SizeProduct& other) const {
    SizeProduct result{factor * other.factor, sizes};
    result.sizes.insert(result.sizes.end(), other.sizes.begin(), other.sizes.end());
    std::ranges::sort(result.sizes);
    return result;
}

std::optional<SizeProduct> SizeProduct::dividedBy(const SizeProduct& divisor) const {
    if (divisor.factor == 0 || factor % divisor.factor != 0 ||
        !std::ranges::includes(sizes, divisor.sizes))
        return std::nullopt;
    SizeProduct result{factor / divisor.factor, {}};
    std::ranges::set_difference(sizes, divisor.sizes, std::back_inserter(result.sizes));
    return result;
}

PositionDigits::PositionDigits(const SkillContext& context, std::optional<Extents> block)
    : context_(context), code_(context.code()), body_(code_.body()), block_(block) {
    for (std::uint8_t axis = 0; axis < 3; ++axis)
        isBare_[axis] = block_ && (*block_)[axis] == 1 && !usesThread(body_, axis);
}

void PositionDigits::read(ExprId expr) {
    if (expr != noId)
        evaluate(expr);
}

void PositionDigits::readStatement(StmtId statement) {
    const Stmt& stmt = body_.stmt(statement);
    for (const VariableId id : stmt.declared) {
        const Variable& variable = body_.variable(id);
        if (variable.init == noId)
            continue;
        const Value value = evaluate(variable.init);
        if (value && isIndexType(variable.type))
            held_.insert_or_assign(id, *value);
    }
    for (const ExprId expr : {stmt.condition, stmt.expr})
        read(expr);
    for (const StmtId child : stmt.children)
        readStatement(child);
    if (stmt.kind == StmtKind::Declaration || stmt.kind == StmtKind::Expression)
        return;
    // Assignments below may not run, so the variables' values are unknown behind them.
    for (const ExprId id : code_.expressionsIn(statement))
        if (const Expr& expr = body_.expr(id);
            expr.kind == ExprKind::Binary && isAssignment(expr.op))
            lose(code_.namedVariable(expr.children[0]));
}

void PositionDigits::lose(VariableId variable) {
    held_.erase(variable);
    lost_.insert(variable);
}

void PositionDigits::start(VariableId variable, std::uint8_t axis) {
    held_.insert_or_assign(variable, IndexExpression::symbol(intern({axis, {}, std::nullopt})));
}

const IndexExpression* PositionDigits::value(ExprId expr) const {
    const auto found = values_.find(expr);
    return found == values_.end() ? nullptr : &found->second;
}

const IndexExpression* PositionDigits::held(VariableId variable) const {
    const auto found = held_.find(variable);
    return found == held_.end() ? nullptr : &found->second;
}

const PositionSlice* PositionDigits::slice(Symbol symbol) const {
    return symbol.kind == SymbolKind::Named && symbol.id < slices_.size() ? &slices_[symbol.id]
                                                                          : nullptr;
}

const PositionSlice* PositionDigits::sliceIn(const IndexExpression& value) const {
    if (value.terms().size() != 1)
        return nullptr;
    const auto& [monomial, factor] = *value.terms().begin();
    return factor == 1 && monomial.size() == 1 ? slice(monomial.front()) : nullptr;
}

Symbol PositionDigits::intern(const PositionSlice& slice) {
    const auto found = std::ranges::find(slices_, slice);
    const auto index = static_cast<std::size_t>(found - slices_.begin());
    if (found == slices_.end())
        slices_.push_back(slice);
    return symbolOf(index);
}

bool PositionDigits::isSize(const IndexExpression& value) const {
    return std::ranges::all_of(value.terms(), [](const auto& term) {
        return std::ranges::all_of(term.first, [](Symbol symbol) {
            return symbol.kind == SymbolKind::Parameter || symbol.kind == SymbolKind::BlockDim ||
                   symbol.kind == SymbolKind::GridDim ||
                   (symbol.kind == SymbolKind::Named && symbol.id >= firstAtom);
        });
    });
}

std::optional<SizeProduct> PositionDigits::product(ExprId expr) {
    const IndexExpression* known = value(expr);
    if (known == nullptr || !isSize(*known))
        return std::nullopt;
    if (known->terms().size() == 1) {
        const auto& [monomial, factor] = *known->terms().begin();
        return factor > 0 ? std::optional(SizeProduct{factor, monomial}) : std::nullopt;
    }
    const Value named = atom(expr);
    return SizeProduct{1, named->terms().begin()->first};
}

std::string PositionDigits::text(const SizeProduct& product) const {
    std::string text;
    for (const Symbol symbol : product.sizes) {
        std::string name;
        if (symbol.kind == SymbolKind::Parameter)
            name = body_.variable(symbol.id).name;
        else if (symbol.kind == SymbolKind::Named) {
            const Expr& expr = body_.expr(atoms_.at(symbol.id - firstAtom));
            name = context_.file.source->slice(expr.span);
            if (expr.kind == ExprKind::Binary || expr.kind == ExprKind::Conditional)
                name = "(" + name + ")";
        } else {
            name =
                fmt::format("{}.{}", symbol.kind == SymbolKind::BlockDim ? "blockDim" : "gridDim",
                            "xyz"[symbol.id]);
        }
        text += (text.empty() ? "" : " * ") + name;
    }
    if (product.factor != 1 || text.empty())
        text = text.empty() ? fmt::format("{}", product.factor)
                            : fmt::format("{} * {}", text, product.factor);
    return text;
}

std::vector<VariableId> PositionDigits::named(const SizeProduct& product) const {
    std::vector<VariableId> result;
    for (const Symbol symbol : product.sizes)
        if (symbol.kind == SymbolKind::Named)
            for (const ExprId id : code_.expressionsBelow(atoms_.at(symbol.id - firstAtom)))
                if (body_.expr(id).kind == ExprKind::Variable)
                    result.push_back(body_.expr(id).variable);
    return result;
}

PositionDigits::Value PositionDigits::evaluate(ExprId id) {
    const Expr& expr = body_.expr(id);
    Value result;
    switch (expr.kind) {
    case ExprKind::Integer:
        result = IndexExpression::constant(expr.integer);
        break;
    case ExprKind::BuiltinIndex:
        result = expr.name == "blockIdx" && isBare_[expr.axis]
                     ? IndexExpression::symbol(intern({expr.axis, {}, std::nullopt}))
                     : symbolValue(builtinKind(expr.name), expr.axis);
        break;
    case ExprKind::Variable:
        result = variable(expr);
        break;
    case ExprKind::Cast:
        result = evaluate(expr.children[0]);
        if (!isIndexType(expr.type))
            result.reset();
        break;
    case ExprKind::Binary:
        result = binary(id, expr);
        break;
    default: {
        std::vector<Value> operands;
        for (const ExprId child : expr.children)
            operands.push_back(evaluate(child));
        if (expr.kind == ExprKind::Unary && (expr.op.ends_with("++") || expr.op.ends_with("--")))
            lose(code_.namedVariable(expr.children[0]));
        else if (expr.kind == ExprKind::Unary && expr.op == "-" && operands[0])
            result = IndexExpression::constant(0) - *operands[0];
        else if (expr.kind == ExprKind::Call && operands.size() == 2 && operands[0] &&
                 operands[1] && (expr.name == "__mul24" || expr.name == "__umul24"))
            result = IndexExpression::product(*operands[0], *operands[1]);
        else if (expr.kind == ExprKind::InitList && expr.children.size() == 1)
            result = operands[0];
        else if (expr.kind == ExprKind::Member && isIndexType(expr.type) &&
                 body_.expr(expr.children[0]).kind == ExprKind::Variable && !expr.isArrow) {
            const VariableId object = body_.expr(expr.children[0]).variable;
            if (object != noId && !code_.isEverWritten(object) &&
                body_.variable(object).storage == Storage::Parameter &&
                !body_.variable(object).type.isReference)
                result = atom(id);
        }
        break;
    }
    }
    if (!result || result->isTooLarge()) {
        values_.erase(id);
        return std::nullopt;
    }
    values_.insert_or_assign(id, *result);
    return result;
}

PositionDigits::Value PositionDigits::variable(const Expr& expr) {
    if (expr.variable == noId)
        return std::nullopt;
    const Variable& variable = body_.variable(expr.variable);
    if (variable.constantValue)
        return IndexExpression::constant(*variable.constantValue);
    if (!isIndexType(variable.type))
        return std::nullopt;
    if (const auto found = held_.find(expr.variable); found != held_.end())
        return found->second;
    if (variable.storage == Storage::Local || code_.isEverWritten(expr.variable))
        return std::nullopt;
    if (variable.storage == Storage::Parameter)
        return symbolValue(SymbolKind::Parameter, expr.variable);
    // Device code reads a host global only when it is a constant or a template parameter.
    if (variable.storage == Storage::Constant || variable.storage == Storage::HostGlobal)
        return atom(code_.uses(expr.variable).front());
    return std::nullopt;
}

PositionDigits::Value PositionDigits::atom(ExprId id) {
    const auto found =
        std::ranges::find_if(atoms_, [&](ExprId known) { return code_.sameExpression(known, id); });
    const auto index = static_cast<std::uint32_t>(found - atoms_.begin());
    if (found == atoms_.end())
        atoms_.push_back(id);
    return symbolValue(SymbolKind::Named, firstAtom + index);
}

PositionDigits::Value PositionDigits::binary(ExprId id, const Expr& expr) {
    if (expr.children.size() != 2)
        return std::nullopt;
    if (isAssignment(expr.op)) {
        assign(id);
        return std::nullopt;
    }
    const Value left = evaluate(expr.children[0]);
    const Value right = evaluate(expr.children[1]);
    if (!left || !right || !isIndexType(expr.type))
        return std::nullopt;
    const auto sized = [](Value value, auto&& normalise) {
        return value && !value->isTooLarge() ? Value(normalise(*std::move(value))) : std::nullopt;
    };
    const auto normalise = [&](IndexExpression value) { return normalised(std::move(value)); };
    const auto bits = right->asConstant();
    if (expr.op == "+")
        return sized(IndexExpression::sum(*left, *right), normalise);
    if (expr.op == "-")
        return sized(IndexExpression::difference(*left, *right), normalise);
    if (expr.op == "*")
        return IndexExpression::product(*left, *right);
    if (expr.op == "<<" && bits && *bits >= 0 && *bits < 31)
        return *left * IndexExpression::constant(std::int64_t{1} << *bits);
    if (expr.op == "/")
        return quotient(*left, *right, id);
    if (expr.op == "%")
        return remainder(*left, *right, id);
    if (expr.op == ">>" && bits && *bits >= 0 && *bits < 31)
        return quotient(*left, IndexExpression::constant(std::int64_t{1} << *bits), id);
    if (expr.op == "&" && bits && *bits > 0 &&
        std::has_single_bit(static_cast<std::uint64_t>(*bits) + 1))
        return remainder(*left, IndexExpression::constant(*bits + 1), id);
    return std::nullopt;
}

namespace {

/// A product of sizes alone, without a name for what is none.
std::optional<SizeProduct> plainProduct(const IndexExpression& value) {
    if (value.terms().size() != 1)
        return std::nullopt;
    const auto& [monomial, factor] = *value.terms().begin();
    return factor > 0 ? std::optional(SizeProduct{factor, monomial}) : std::nullopt;
}

} // namespace

std::optional<SizeProduct> PositionDigits::sizeOf(const IndexExpression& divisor, ExprId id) {
    if (divisor.asConstant())
        return plainProduct(divisor);
    return isSize(divisor) ? product(id) : std::nullopt;
}

PositionDigits::Value PositionDigits::quotient(const IndexExpression& value,
                                               const IndexExpression& divisor, ExprId id) {
    const auto a = value.asConstant();
    const auto b = divisor.asConstant();
    if (a && b && *a >= 0 && *b > 0)
        return IndexExpression::constant(*a / *b);
    if (isSize(value) && isSize(divisor))
        return atom(id);
    const PositionSlice* whole = sliceIn(value);
    const auto size = sizeOf(divisor, body_.expr(id).children[1]);
    if (whole == nullptr || !size)
        return std::nullopt;
    const PositionSlice part{whole->axis, whole->low * *size, whole->high};
    if (part.high && !part.high->dividedBy(part.low))
        return std::nullopt;
    return IndexExpression::symbol(intern(part));
}

PositionDigits::Value PositionDigits::remainder(const IndexExpression& value,
                                                const IndexExpression& divisor, ExprId id) {
    const auto a = value.asConstant();
    const auto b = divisor.asConstant();
    if (a && b && *a >= 0 && *b > 0)
        return IndexExpression::constant(*a % *b);
    if (isSize(value) && isSize(divisor))
        return atom(id);
    const PositionSlice* whole = sliceIn(value);
    const auto size = sizeOf(divisor, body_.expr(id).children[1]);
    if (whole == nullptr || !size)
        return std::nullopt;
    const PositionSlice part{whole->axis, whole->low, whole->low * *size};
    if (whole->high && !whole->high->dividedBy(*part.high))
        return std::nullopt;
    return IndexExpression::symbol(intern(part));
}

void PositionDigits::assign(ExprId id) {
    const Expr& expr = body_.expr(id);
    const ExprId target = expr.children[0];
    const Value before = evaluate(target);
    const Value operand = evaluate(expr.children[1]);
    const VariableId variable = code_.namedVariable(target);
    if (variable == noId)
        return;
    Value after;
    if (isIndexType(body_.variable(variable).type)) {
        if (expr.op == "=")
            after = operand;
        else if (before && operand && expr.op == "/=" && !isSize(*before))
            after = quotient(*before, *operand, id);
        else if (before && operand && expr.op == "%=" && !isSize(*before))
            after = remainder(*before, *operand, id);
        else if (before && operand && expr.op == "-=")
            after = normalised(*before - *operand);
        else if (before && operand && expr.op == "+=")
            after = normalised(*before + *operand);
    }
    if (after && !after->isTooLarge() && code_.parent(id) == noId)
        held_.insert_or_assign(variable, *after);
    else
        lose(variable);
}

IndexExpression PositionDigits::normalised(IndexExpression value) {
    if (const auto position = positionIn(value)) {
        IndexExpression rest = value;
        for (const Monomial& monomial : position->terms)
            rest = rest - term(monomial, value.terms().at(monomial));
        return normalised(rest +
                          IndexExpression::symbol(intern({position->axis, {}, std::nullopt})));
    }
    // i - i / n * n is i % n.
    for (const auto& [monomial, factor] : value.terms()) {
        const PositionSlice* whole =
            monomial.size() == 1 && factor == 1 ? slice(monomial.front()) : nullptr;
        if (whole == nullptr)
            continue;
        for (const auto& [other, negative] : value.terms()) {
            if (negative >= 0)
                continue;
            SizeProduct size{-negative, {}};
            const PositionSlice* rest = nullptr;
            for (const Symbol symbol : other)
                if (const PositionSlice* found = slice(symbol); found != nullptr && !rest)
                    rest = found;
                else
                    size.sizes.push_back(symbol);
            if (rest == nullptr || rest->axis != whole->axis || rest->high != whole->high ||
                rest->low != whole->low * size)
                continue;
            const IndexExpression others = value - term(monomial, factor) - term(other, negative);
            const PositionSlice part{whole->axis, whole->low, rest->low};
            return normalised(others + IndexExpression::symbol(intern(part)));
        }
    }
    return value;
}

std::optional<PositionDigits::PositionTerms>
PositionDigits::positionIn(const IndexExpression& value) const {
    const auto find = [&](Monomial monomial, std::int64_t factor) -> std::optional<Monomial> {
        std::ranges::sort(monomial);
        const auto found = value.terms().find(monomial);
        const bool isIt = found != value.terms().end() && found->second == factor;
        return isIt ? std::optional(std::move(monomial)) : std::nullopt;
    };
    // Blocks times their threads, as blockDim or as the number that it has.
    const auto blocksAlong = [&](Monomial monomial, std::uint32_t axis) {
        if (block_)
            if (auto found = find(monomial, (*block_)[axis]))
                return found;
        std::vector<Symbol> threads{{SymbolKind::BlockDim, axis}};
        for (std::uint32_t atom = 0; atom < atoms_.size(); ++atom)
            if (block_ && instantiated(atoms_[atom]) == (*block_)[axis])
                threads.push_back({SymbolKind::Named, firstAtom + atom});
        for (const Symbol each : threads) {
            Monomial product = monomial;
            product.push_back(each);
            if (auto found = find(std::move(product), 1))
                return found;
        }
        return std::optional<Monomial>{};
    };
    for (std::uint8_t axis = 0; axis < 3; ++axis) {
        const auto thread = find({{SymbolKind::ThreadIdx, axis}}, 1);
        const auto block = blocksAlong({{SymbolKind::BlockIdx, axis}}, axis);
        if (!thread || !block)
            continue;
        if (axis > 0)
            return PositionTerms{axis, {*thread, *block}};
        // If blocks have one thread along y, blockIdx.y is a position itself.
        std::vector<Symbol> further{{SymbolKind::BlockIdx, 1}};
        for (std::size_t at = 0; at < slices_.size(); ++at)
            if (slices_[at] == PositionSlice{1, {}, std::nullopt})
                further.push_back(symbolOf(at));
        for (const Symbol symbol : further)
            if (const auto rows = blocksAlong({symbol, {SymbolKind::GridDim, 0}}, 0))
                return PositionTerms{flatAxis, {*thread, *block, *rows}};
        return PositionTerms{axis, {*thread, *block}};
    }
    return std::nullopt;
}

std::optional<std::int64_t> PositionDigits::instantiated(ExprId atom) const {
    const Expr& expr = body_.expr(atom);
    if (expr.kind != ExprKind::Variable || expr.variable == noId)
        return std::nullopt;
    const auto& known = context_.shared().nest().instantiation;
    const auto found = known.find(body_.variable(expr.variable).name);
    std::int64_t number = 0;
    if (found == known.end())
        return std::nullopt;
    const std::string& text = found->second;
    const auto end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

std::optional<PositionDigits::Place> PositionDigits::placeOf(ExprId access) const {
    const Expr& expr = body_.expr(access);
    if (expr.kind == ExprKind::Unary && expr.op == "*")
        return pointer(expr.children[0], 0);
    if (expr.kind != ExprKind::Subscript)
        return expr.type.pointerDepth > 0 ? pointer(access, 0) : std::nullopt;
    auto place = pointer(expr.children[0], 0);
    const IndexExpression* index = value(expr.children[1]);
    if (!place || index == nullptr)
        return std::nullopt;
    place->index = place->index + *index;
    return place;
}

std::optional<PositionDigits::Place> PositionDigits::pointer(ExprId id, int depth) const {
    if (depth > maxPointerDepth)
        return std::nullopt;
    const Expr& expr = body_.expr(id);
    if (expr.kind == ExprKind::Variable && expr.variable != noId) {
        const Variable& variable = body_.variable(expr.variable);
        if (code_.isEverWritten(expr.variable) || variable.type.pointerDepth != 1 ||
            variable.type.isReference)
            return std::nullopt;
        if (variable.storage == Storage::Parameter)
            return Place{expr.variable, IndexExpression::constant(0)};
        return variable.storage == Storage::Local && variable.init != noId
                   ? pointer(variable.init, depth + 1)
                   : std::nullopt;
    }
    if (expr.kind == ExprKind::Cast) {
        const Expr& from = body_.expr(expr.children[0]);
        return from.type.elementSize == expr.type.elementSize ? pointer(expr.children[0], depth + 1)
                                                              : std::nullopt;
    }
    if (expr.kind == ExprKind::Unary && expr.op == "&")
        return placeOf(expr.children[0]);
    if (expr.kind != ExprKind::Binary || (expr.op != "+" && expr.op != "-"))
        return std::nullopt;
    const bool isLeft = body_.expr(expr.children[0]).type.pointerDepth > 0;
    auto place = pointer(expr.children[isLeft ? 0 : 1], depth + 1);
    const IndexExpression* step = value(expr.children[isLeft ? 1 : 0]);
    if (!place || step == nullptr || (expr.op == "-" && !isLeft))
        return std::nullopt;
    place->index = expr.op == "+" ? place->index + *step : place->index - *step;
    return place;
}

} // namespace kernelskill::skills
