#include "analysis/model/index_evaluator.h"

#include "analysis/model/integer_arithmetic.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace kernelskill::analysis {

namespace {

bool isInteger(const Type& type) {
    return type.pointerDepth == 0 && type.arrayExtents.empty() && type.lanes == 1 &&
           type.scalar >= ScalarKind::Bool && type.scalar <= ScalarKind::UInt64;
}

bool isPointer(const Type& type) {
    return type.pointerDepth > 0 && type.arrayExtents.empty();
}

/// The component of a vector type: x, y, z, w.
std::optional<std::int64_t> laneOf(std::string_view member) {
    constexpr std::string_view names = "xyzw";
    const auto lane = member.size() == 1 ? names.find(member[0]) : std::string_view::npos;
    return lane == std::string_view::npos ? std::nullopt
                                          : std::optional(static_cast<std::int64_t>(lane));
}

std::optional<IndexExpression> sum(const std::optional<IndexExpression>& a,
                                   const std::optional<IndexExpression>& b) {
    return a && b ? IndexExpression::sum(*a, *b) : std::nullopt;
}

} // namespace

std::optional<IndexExpression> IndexEvaluator::variableValue(VariableId id) const {
    const Variable& variable = body_.variable(id);
    if (variable.constantValue)
        return IndexExpression::constant(*variable.constantValue);
    if (!isInteger(variable.type) || variable.type.isReference)
        return std::nullopt;
    if (const auto known = environment_.integers.find(id); known != environment_.integers.end())
        return known->second;
    const bool uniform = variable.storage == Storage::Parameter ||
                         (variable.storage == Storage::HostGlobal && variable.init == noId);
    const bool fixed = uniform && dependence_.changes(id) == 0;
    return IndexExpression::symbol({fixed ? SymbolKind::Parameter : SymbolKind::Opaque, id});
}

std::optional<IndexExpression> IndexEvaluator::integer(ExprId expression) const {
    if (expression == noId)
        return std::nullopt;
    const Expr& expr = body_.expr(expression);
    switch (expr.kind) {
    case ExprKind::Integer:
        return IndexExpression::constant(expr.integer);
    case ExprKind::BuiltinIndex:
        return IndexExpression::symbol({builtinKind(expr.name), expr.axis});
    case ExprKind::Variable:
        return expr.variable == noId ? std::nullopt : variableValue(expr.variable);
    case ExprKind::Cast:
        return isInteger(expr.type) ? integer(expr.children.front()) : std::nullopt;
    case ExprKind::Unary:
        if (expr.op == "-") {
            const std::optional<IndexExpression> value = integer(expr.children.front());
            return value ? std::optional(IndexExpression::constant(-1) * *value) : std::nullopt;
        }
        return std::nullopt;
    case ExprKind::Binary:
        return binary(expr);
    case ExprKind::InitList: // For int i{0}.
        return expr.children.size() == 1 ? integer(expr.children.front()) : std::nullopt;
    default:
        return std::nullopt;
    }
}

std::optional<IndexExpression> IndexEvaluator::binary(const Expr& expr) const {
    if (expr.children.size() != 2 || isAssignment(expr))
        return std::nullopt;
    const std::optional<IndexExpression> a = integer(expr.children[0]);
    const std::optional<IndexExpression> b = integer(expr.children[1]);
    if (!a || !b)
        return std::nullopt;
    if (expr.op == "+")
        return IndexExpression::sum(*a, *b);
    if (expr.op == "-")
        return IndexExpression::difference(*a, *b);
    if (expr.op == "*")
        return IndexExpression::product(*a, *b);
    const std::optional<std::int64_t> right = b->asConstant();
    if (!right)
        return std::nullopt;
    if (expr.op == "<<" && *right >= 0 && *right < 62)
        return *a * IndexExpression::constant(std::int64_t{1} << *right);
    const std::optional<std::int64_t> left = a->asConstant();
    const auto result = left ? integerResult(expr.op, *left, *right) : std::nullopt;
    return result ? std::optional(IndexExpression::constant(*result)) : std::nullopt;
}

Address IndexEvaluator::pointer(ExprId expression) const {
    if (expression == noId)
        return {};
    const Expr& expr = body_.expr(expression);
    switch (expr.kind) {
    case ExprKind::Variable: {
        if (expr.variable == noId)
            return {};
        const Variable& variable = body_.variable(expr.variable);
        if (const auto known = environment_.pointers.find(expr.variable);
            known != environment_.pointers.end())
            return known->second;
        Address address;
        address.unit = variable.type.elementSize;
        if (!variable.type.arrayExtents.empty()) {
            address.base = expr.variable;
            address.offset = IndexExpression::constant(0);
            address.extents = variable.type.arrayExtents;
        } else if (variable.type.pointerDepth > 0 && variable.storage != Storage::Local) {
            const bool moved = dependence_.changes(expr.variable) > 0;
            address.base = expr.variable;
            if (!moved)
                address.offset = IndexExpression::constant(0);
        }
        return address;
    }
    case ExprKind::Cast:
        return inUnits(pointer(expr.children.front()), expr.type.elementSize);
    case ExprKind::Unary:
        if (expr.op == "&")
            return place(expr.children.front());
        return {};
    case ExprKind::Binary: {
        if (expr.op != "+" && expr.op != "-")
            return {};
        const bool leftIsPointer = isPointer(body_.expr(expr.children[0]).type) ||
                                   !body_.expr(expr.children[0]).type.arrayExtents.empty();
        Address address = pointer(expr.children[leftIsPointer ? 0 : 1]);
        std::optional<IndexExpression> step = integer(expr.children[leftIsPointer ? 1 : 0]);
        if (step && expr.op == "-")
            step = IndexExpression::constant(-1) * *step;
        if (address.extents.size() > 1) // array + i moves by rows.
            return {address.base, std::nullopt, address.unit, {}, {}};
        address.extents.clear();
        address.offset = sum(address.offset, step);
        return address;
    }
    // A row of an array of arrays; any other subscript is a loaded pointer.
    case ExprKind::Subscript:
        if (!expr.type.arrayExtents.empty())
            return place(expression);
        return {};
    // A field whose type depends on template parameters may be an array within its object.
    case ExprKind::Member:
        if (expr.type.scalar == ScalarKind::Unknown && !isPointer(expr.type) &&
            expr.type.arrayExtents.empty())
            return {place(expression).base, std::nullopt, 0, {}, {}};
        return {};
    case ExprKind::InitList:
        return expr.children.size() == 1 ? pointer(expr.children.front()) : Address{};
    default:
        return {};
    }
}

Address IndexEvaluator::place(ExprId lvalue) const {
    const Expr& expr = body_.expr(lvalue);
    if (expr.kind == ExprKind::Subscript) {
        Address address = pointer(expr.children[0]);
        const std::optional<IndexExpression> subscript = integer(expr.children[1]);
        std::int64_t stride = 1;
        bool known = true;
        if (!address.extents.empty()) {
            address.extents.erase(address.extents.begin());
            for (const std::int64_t extent : address.extents) {
                known = known && extent > 0;
                stride *= std::max<std::int64_t>(extent, 1);
            }
        } else if (address.base == noId) {
            address.unit = expr.type.size;
        }
        address.offset = known && subscript
                             ? sum(address.offset, *subscript * IndexExpression::constant(stride))
                             : std::nullopt;
        address.subscripts.push_back(subscript);
        return address;
    }
    if (expr.kind == ExprKind::Unary && expr.op == "*") {
        Address address = pointer(expr.children.front());
        address.subscripts.clear();
        if (!address.extents.empty())
            address.extents.erase(address.extents.begin());
        if (address.base == noId)
            address.unit = expr.type.size;
        return address;
    }
    if (expr.kind == ExprKind::Member && !expr.children.empty()) {
        const Expr& object = body_.expr(expr.children.front());
        Address address =
            expr.isArrow ? pointer(expr.children.front()) : place(expr.children.front());
        const std::uint32_t whole = expr.isArrow ? object.type.elementSize : object.type.size;
        if (address.unit == 0 || expr.type.size == 0 || whole == 0 || address.unit != whole)
            return {address.base, std::nullopt, expr.type.size, {}, std::move(address.subscripts)};
        address = inUnits(std::move(address), expr.type.size);
        const std::uint8_t lanes = object.type.lanes;
        if (const std::optional<std::int64_t> lane = laneOf(expr.name); lanes > 1 && lane)
            address.offset = sum(address.offset, IndexExpression::constant(*lane));
        return address;
    }
    if (expr.kind == ExprKind::Variable && expr.variable != noId) {
        const Variable& variable = body_.variable(expr.variable);
        if (variable.type.isReference)
            if (const auto known = environment_.pointers.find(expr.variable);
                known != environment_.pointers.end())
                return known->second;
        if (!variable.type.arrayExtents.empty())
            return pointer(lvalue);
        return {expr.variable, IndexExpression::constant(0), variable.type.size, {}, {}};
    }
    if (expr.kind == ExprKind::Cast)
        return inUnits(place(expr.children.front()), expr.type.size);
    return {};
}

Address IndexEvaluator::inUnits(Address address, std::uint32_t unit) {
    address.extents.clear();
    if (address.unit == unit)
        return address;
    const std::uint32_t from = std::exchange(address.unit, unit);
    if (!address.offset)
        return address;
    if (address.offset->asConstant() == 0)
        return address;
    if (from == 0 || unit == 0) {
        address.offset.reset();
        return address;
    }
    IndexExpression scaled;
    for (const auto& [monomial, coefficient] : address.offset->terms()) {
        const std::int64_t bytes = coefficient * from;
        if (bytes % unit != 0) {
            address.offset.reset();
            return address;
        }
        IndexExpression term = IndexExpression::constant(bytes / unit);
        for (const Symbol symbol : monomial)
            term = term * IndexExpression::symbol(symbol);
        scaled = scaled + term;
    }
    address.offset = std::move(scaled);
    return address;
}

void IndexEvaluator::declare(VariableId id) {
    const Variable& variable = body_.variable(id);
    forget(id);
    if (variable.init == noId || variable.storage != Storage::Local)
        return;
    if (variable.type.isReference) {
        Address address = place(variable.init);
        if (address.base != noId)
            environment_.pointers[id] = std::move(address);
    } else if (isInteger(variable.type)) {
        if (std::optional<IndexExpression> value = integer(variable.init))
            environment_.integers[id] = std::move(*value);
    } else if (isPointer(variable.type) || variable.type.spelling == "auto *") {
        Address address = pointer(variable.init);
        address.subscripts.clear();
        if (address.base != noId)
            environment_.pointers[id] = inUnits(std::move(address), variable.type.elementSize);
    }
}

void IndexEvaluator::assign(ExprId target, ExprId value) {
    const Expr& expr = body_.expr(target);
    if (expr.kind != ExprKind::Variable || expr.variable == noId) {
        if (expr.kind == ExprKind::Member)
            if (const VariableId root = rootVariable(body_, target);
                root != noId && body_.variable(root).type.pointerDepth == 0)
                forget(root);
        return;
    }
    const Variable& variable = body_.variable(expr.variable);
    if (isInteger(variable.type) && !variable.type.isReference) {
        std::optional<IndexExpression> result = integer(value);
        forget(expr.variable);
        if (result)
            environment_.integers[expr.variable] = std::move(*result);
    } else if (isPointer(variable.type) && !variable.type.isReference) {
        Address address = pointer(value);
        address.subscripts.clear();
        environment_.pointers[expr.variable] =
            inUnits(std::move(address), variable.type.elementSize);
    }
}

void IndexEvaluator::adjust(ExprId target, std::string_view op, ExprId by) {
    const Expr& expr = body_.expr(target);
    if (expr.kind != ExprKind::Variable || expr.variable == noId)
        return;
    std::optional<IndexExpression> step =
        by == noId ? std::optional(IndexExpression::constant(1)) : integer(by);
    if (step && op.ends_with('-'))
        step = IndexExpression::constant(-1) * *step;
    const Variable& variable = body_.variable(expr.variable);
    if (isPointer(variable.type)) {
        Address address = pointer(target);
        address.offset = sum(address.offset, step);
        environment_.pointers[expr.variable] = std::move(address);
        return;
    }
    std::optional<IndexExpression> result = sum(integer(target), step);
    forget(expr.variable);
    if (result && isInteger(variable.type))
        environment_.integers[expr.variable] = std::move(*result);
}

void IndexEvaluator::forget(VariableId id) {
    environment_.integers.erase(id);
    const Variable& variable = body_.variable(id);
    const auto known = environment_.pointers.find(id);
    if (known != environment_.pointers.end()) {
        // For `p += stride` in a loop, the base stays the same.
        known->second.offset.reset();
    } else if (isPointer(variable.type) && variable.storage == Storage::Parameter) {
        environment_.pointers[id] = {id, std::nullopt, variable.type.elementSize, {}, {}};
    }
    if (isInteger(variable.type))
        environment_.integers[id] = IndexExpression::symbol({SymbolKind::Opaque, id});
}

void IndexEvaluator::bindLoopVariable(VariableId id) {
    environment_.integers[id] = IndexExpression::symbol({SymbolKind::LoopVariable, id});
}

void IndexEvaluator::join(const Environment& other) {
    for (auto& [id, value] : environment_.integers) {
        const auto there = other.integers.find(id);
        if (there == other.integers.end() || there->second != value)
            value = IndexExpression::symbol({SymbolKind::Opaque, id});
    }
    for (const auto& [id, value] : other.integers)
        if (!environment_.integers.contains(id))
            environment_.integers[id] = IndexExpression::symbol({SymbolKind::Opaque, id});
    for (auto& [id, address] : environment_.pointers) {
        const auto there = other.pointers.find(id);
        if (there == other.pointers.end() || there->second.base != address.base)
            address = {};
        else if (there->second != address)
            address.offset.reset();
    }
    for (const auto& [id, address] : other.pointers)
        environment_.pointers.try_emplace(id); // Changed on the other side only, so unknown here.
}

void IndexEvaluator::collectChanges(ExprId expression, std::set<VariableId>& changed) const {
    if (expression == noId)
        return;
    const Expr& expr = body_.expr(expression);
    if ((isAssignment(expr) || isIncrement(expr)) && !expr.children.empty()) {
        const Expr& target = body_.expr(expr.children.front());
        if (target.kind == ExprKind::Variable && target.variable != noId)
            changed.insert(target.variable);
    }
    if (expr.kind == ExprKind::Unary && expr.op == "&" && !expr.children.empty())
        if (const Expr& target = body_.expr(expr.children.front());
            target.kind == ExprKind::Variable && target.variable != noId)
            changed.insert(target.variable);
    for (const ExprId child : expr.children)
        collectChanges(child, changed);
}

std::set<VariableId> IndexEvaluator::changedIn(StmtId statement) const {
    std::set<VariableId> changed;
    std::vector<StmtId> pending = {statement};
    while (!pending.empty()) {
        const Stmt& stmt = body_.stmt(pending.back());
        pending.pop_back();
        for (const ExprId expr : {stmt.expr, stmt.condition, stmt.increment})
            collectChanges(expr, changed);
        for (const VariableId variable : stmt.declared)
            collectChanges(body_.variable(variable).init, changed);
        if (stmt.init != noId)
            pending.push_back(stmt.init);
        pending.insert(pending.end(), stmt.children.begin(), stmt.children.end());
        if (stmt.kind == StmtKind::Asm)
            for (const StmtId operand : stmt.children)
                if (const VariableId variable = rootVariable(body_, body_.stmt(operand).expr);
                    variable != noId)
                    changed.insert(variable);
    }
    return changed;
}

} // namespace kernelskill::analysis
