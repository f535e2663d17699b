#include "analysis/nest/point_set.h"

#include "analysis/nest/facts.h"

#include <algorithm>

namespace kernelskill::analysis {

namespace {

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
    std::string text;
    for (const std::string& part : parts)
        text += (text.empty() ? "" : std::string(separator)) + part;
    return text;
}

} // namespace

PointSet::PointSet(const Nest& nest, bool knowsBlocks) : nest_(nest), knowsBlocks_(knowsBlocks) {}

std::string PointSet::inexact() {
    isExact_ = false;
    return "(0 = 0)";
}

std::string PointSet::parameter(const Monomial& monomial) {
    const auto [entry, isNew] = parameters_.try_emplace(monomial);
    if (!isNew)
        return entry->second;
    entry->second = "p" + std::to_string(parameters_.size());
    const std::string name = entry->second;
    const bool isSize = std::ranges::all_of(monomial, [](Symbol symbol) {
        return symbol.kind == SymbolKind::BlockDim || symbol.kind == SymbolKind::GridDim;
    });
    IndexExpression term = IndexExpression::constant(1);
    for (const Symbol symbol : monomial)
        term = term * IndexExpression::symbol(symbol);
    if (isSize)
        require(name + " >= 1");
    else if (nest_.symbols.isNotNegative(term))
        require(name + " >= 0");
    if (knowsBlocks_ && monomial.size() == 1 && monomial[0].kind == SymbolKind::BlockDim &&
        monomial[0].id < 3 && nest_.extents.block[monomial[0].id])
        require(name + " = " + std::to_string(*nest_.extents.block[monomial[0].id]));
    return name;
}

std::string PointSet::dimension(Symbol symbol, int run) {
    const auto [entry, isNew] = dimensions_.try_emplace({symbol, run});
    if (!isNew)
        return entry->second;
    entry->second = "d" + std::to_string(dimensions_.size());
    const std::string name = entry->second;
    dimensionOrder_.push_back(name);
    define(symbol, run);
    return name;
}

std::optional<std::string> PointSet::linear(const IndexExpression& expression, int run) {
    std::string text;
    for (const auto& [monomial, coefficient] : expression.terms()) {
        Monomial left;
        std::int64_t factor = coefficient;
        for (const Symbol symbol : monomial) {
            const auto known = fixed_.find(symbol);
            if (known == fixed_.end())
                left.push_back(symbol);
            else if (__builtin_mul_overflow(factor, known->second, &factor))
                return std::nullopt;
        }
        const auto varying = std::ranges::count_if(
            left, [&](Symbol symbol) { return !nest_.symbols.isLaunchConstant(symbol); });
        if (varying > 1 || (varying == 1 && left.size() > 1))
            return std::nullopt;
        text += (factor < 0 ? " - " : text.empty() ? "" : " + ");
        text += std::to_string(factor < 0 ? -factor : factor);
        if (!left.empty())
            text += " " + (varying == 1 ? dimension(left.front(), run) : parameter(left));
    }
    return text.empty() ? std::optional<std::string>("0") : text;
}

std::string PointSet::atLeastZero(const IndexExpression& expression, int run) {
    const auto text = linear(expression, run);
    return text ? "(" + *text + " >= 0)" : inexact();
}

void PointSet::define(Symbol symbol, int run) {
    const std::string self = dimensions_.at({symbol, run});
    const auto below = [&](SymbolKind size) {
        const Symbol extent{size, symbol.id};
        const auto known = fixed_.find(extent);
        const std::string bound =
            known != fixed_.end() ? std::to_string(known->second) : parameter(Monomial{extent});
        require("0 <= " + self + " and " + self + " < " + bound);
    };
    if (symbol.kind == SymbolKind::ThreadIdx)
        below(SymbolKind::BlockDim);
    if (symbol.kind == SymbolKind::BlockIdx)
        below(SymbolKind::GridDim);
    const NestSymbol* named = nest_.symbols.find(symbol);
    if (named == nullptr)
        return;
    if (named->isNotNegative)
        require(self + " >= 0");
    if (named->kind == NestSymbolKind::Value)
        isExact_ = false;
    if (named->kind == NestSymbolKind::Position) {
        const Symbol thread{SymbolKind::ThreadIdx, named->axis};
        require(self + " >= " + dimension(thread, run));
        const auto block = fixed_.find({SymbolKind::BlockDim, named->axis});
        const auto grid = fixed_.find({SymbolKind::GridDim, named->axis});
        if (block != fixed_.end())
            require(self + " = " + std::to_string(block->second) + " " +
                    dimension({SymbolKind::BlockIdx, named->axis}, run) + " + " +
                    dimension(thread, run));
        else if (grid != fixed_.end())
            isExact_ = false;
    }
    if (named->kind == NestSymbolKind::Derived)
        defineDerived(*named, self, run);
}

void PointSet::defineDerived(const NestSymbol& symbol, const std::string& self, int run) {
    if (symbol.op == "select") {
        const auto then = linear(symbol.operands[0], run);
        const auto otherwise = linear(symbol.operands[1], run);
        const NestCondition& choice = symbol.choice.front();
        if (then && otherwise)
            require("((" + formula(choice, run) + " and " + self + " = " + *then + ") or (" +
                    formula(negation(choice), run) + " and " + self + " = " + *otherwise + "))");
        else
            isExact_ = false;
        return;
    }
    const auto a = linear(symbol.operands[0], run);
    if (a && symbol.op == "abs") {
        require("((" + *a + " >= 0 and " + self + " = " + *a + ") or (" + *a + " < 0 and " + self +
                " + " + *a + " = 0))");
        return;
    }
    const auto b = symbol.operands.size() == 2 ? linear(symbol.operands[1], run) : std::nullopt;
    if (a && b && (symbol.op == "min" || symbol.op == "max")) {
        const std::string order = symbol.op == "min" ? " <= " : " >= ";
        require("((" + *a + order + *b + " and " + self + " = " + *a + ") or (" + *b + order + *a +
                " and " + self + " = " + *b + "))");
        return;
    }
    const auto divisor =
        symbol.operands.size() == 2 ? symbol.operands[1].asConstant() : std::nullopt;
    const bool fromZero = nest_.symbols.isNotNegative(symbol.operands[0]);
    const bool divides = symbol.op == "/" || symbol.op == "%";
    if (a && divides && divisor && *divisor > 0) {
        const std::string c = std::to_string(*divisor);
        const bool isQuotient = symbol.op == "/";
        // a = c q + r with a remainder of the sign of a.
        const std::string split = isQuotient ? "exists r : " + *a + " = " + c + " " + self + " + r"
                                             : "exists q : " + *a + " = " + c + " q + " + self;
        const std::string rest = isQuotient ? "r" : self;
        const std::string upwards =
            "(" + split + " and 0 <= " + rest + " and " + rest + " < " + c + ")";
        if (fromZero)
            require(upwards);
        else
            require("((" + *a + " >= 0 and " + upwards + ") or (" + *a + " < 0 and (" + split +
                    " and " + rest + " <= 0 and -" + c + " < " + rest + ")))");
        return;
    }
    isExact_ = false;
    const bool isSize = nest_.symbols.isLaunchConstant(symbol.operands[0]);
    if (a && b && divides && (fromZero || isSize)) {
        require("0 <= " + self + " and " + self + " <= " + *a);
        if (symbol.op == "%")
            require(self + " < " + *b);
    }
}

std::string PointSet::formula(const NestCondition& condition, int run) {
    using Kind = NestCondition::Kind;
    switch (condition.kind) {
    case Kind::Always:
        return "(0 = 0)";
    case Kind::Never:
        return "(0 = 1)";
    case Kind::NotNegative:
        return atLeastZero(condition.expression, run);
    case Kind::Zero:
    case Kind::NotZero: {
        const auto text = linear(condition.expression, run);
        if (!text)
            return inexact();
        return condition.kind == Kind::Zero ? "(" + *text + " = 0)"
                                            : "(" + *text + " > 0 or " + *text + " < 0)";
    }
    case Kind::Unknown:
        return inexact();
    case Kind::All:
    case Kind::Any:
        break;
    }
    std::vector<std::string> parts;
    for (const NestCondition& part : condition.parts)
        parts.push_back(formula(part, run));
    return "(" + joined(parts, condition.kind == Kind::All ? " and " : " or ") + ")";
}

void PointSet::require(std::string formula) {
    formulas_.push_back("(" + std::move(formula) + ")");
}

void PointSet::require(const NestCondition& condition, int run) {
    if (!condition.isAlways())
        formulas_.push_back(formula(condition, run));
}

void PointSet::requireDomain(NestNodeId node, int run) {
    for (const NestNodeId id : around(nest_, node)) {
        if (const NestGuard* guard = nest_.node(id).guard()) {
            require(guard->condition, run);
            continue;
        }
        const NestLoop* loop = nest_.node(id).loop();
        if (loop == nullptr)
            continue;
        const std::string self = dimension(loop->iterator, run);
        NestFacts facts;
        addFacts(*loop, facts);
        for (const IndexExpression& fact : facts)
            require(atLeastZero(fact, run));
        const auto step = loop->step ? loop->step->evaluate(fixed_) : std::nullopt;
        const auto first = loop->first ? linear(*loop->first, run) : std::nullopt;
        if (step && first && *step != 1 && *step != -1)
            require("exists k : " + self + " = " + *first + (*step < 0 ? " - " : " + ") +
                    std::to_string(*step < 0 ? -*step : *step) + " k");
        if (!loop->first || !loop->end || !step || loop->mayStop)
            isExact_ = false;
    }
}

void PointSet::fix(Symbol parameter, std::int64_t value) {
    fixed_[parameter] = value;
}

std::string PointSet::text(const std::string& further) const {
    std::vector<std::string> parameters;
    for (const auto& [monomial, name] : parameters_)
        parameters.push_back(name);
    std::vector<std::string> formulas = formulas_;
    if (!further.empty())
        formulas.push_back("(" + further + ")");
    std::string text =
        "[" + joined(parameters, ", ") + "] -> { [" + joined(dimensionOrder_, ", ") + "]";
    if (!formulas.empty())
        text += " : " + joined(formulas, " and ");
    return text + " }";
}

} // namespace kernelskill::analysis
