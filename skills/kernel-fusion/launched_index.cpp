#include "skills/kernel-fusion/launched_index.h"

#include "analysis/syntax/lexer.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view threadName = "threadIdx";
constexpr std::string_view blockName = "blockIdx";

std::string builtinName(std::string_view name, std::uint32_t axis) {
    return fmt::format("{}.{}", name, "xyz"[std::min(axis, 2U)]);
}

/// Replaces blockIdx * c + threadIdx, for blocks of c threads, by the position along the axis.
void joinPositions(const NestExtents& extents, LaunchedIndex& index) {
    for (std::uint32_t axis = 0; axis < 3; ++axis) {
        const std::vector<std::string> thread{builtinName(threadName, axis)};
        const std::vector<std::string> block{builtinName(blockName, axis)};
        const auto take = [&](const std::vector<std::string>& term) {
            const auto found = index.terms.find(term);
            return found == index.terms.end() ? std::int64_t{0} : found->second;
        };
        const std::int64_t threads = take(thread);
        const std::int64_t blocks = take(block);
        const auto width = extents.block.at(axis);
        std::int64_t factor = 0;
        if (width == 1 && threads == 0)
            factor = blocks;
        else if (extents.grid.at(axis) == 1 && blocks == 0)
            factor = threads;
        else if (width && blocks == threads * *width)
            factor = threads;
        if (factor == 0)
            continue;
        index.terms.erase(thread);
        index.terms.erase(block);
        const std::int64_t sum = index.terms[{positionName(axis)}] += factor;
        if (sum == 0)
            index.terms.erase({positionName(axis)});
    }
}

} // namespace

std::string positionName(std::uint32_t axis) {
    return builtinName("position", axis);
}

LaunchedKernel::LaunchedKernel(const FileModel& file, const KernelModel& kernel,
                               const LaunchSite& launch, const CodeMap& host)
    : file_(file), kernel_(kernel), launch_(launch), host_(host), nest_(nestOf(file, kernel)) {
    for (const NestNode& node : nest_->nodes)
        if (const NestLoop* loop = node.loop(); loop != nullptr &&
                                                loop->style == NestLoopStyle::GridStride &&
                                                loop->first && loop->step)
            strides_.emplace(loop->iterator, loop);
}

LaunchedIndex LaunchedKernel::index(const IndexExpression& expression) const {
    LaunchedIndex index;
    for (const auto& [monomial, coefficient] : expression.terms()) {
        std::vector<std::string> factors;
        std::int64_t number = coefficient;
        for (const Symbol symbol : monomial) {
            std::string name = nameOf(symbol, index.isOpen);
            const bool isNumber =
                !name.empty() && name.size() < 18 &&
                std::ranges::all_of(name, [](char digit) { return digit >= '0' && digit <= '9'; });
            std::int64_t product = 0;
            if (isNumber && !__builtin_mul_overflow(number, std::stoll(name), &product))
                number = product;
            else
                factors.push_back(std::move(name));
        }
        std::ranges::sort(factors);
        if ((index.terms[factors] += number) == 0)
            index.terms.erase(factors);
    }
    joinPositions(nest_->extents, index);
    return index;
}

std::string LaunchedKernel::textOf(const IndexExpression& expression, bool& isOpen) const {
    const LaunchedIndex inner = index(expression);
    isOpen |= inner.isOpen;
    std::string text = "(";
    for (const auto& [factors, number] : inner.terms) {
        text += fmt::format("+{}", number);
        for (const std::string& factor : factors)
            text += "*" + factor;
    }
    return text + ")";
}

std::string LaunchedKernel::nameOf(Symbol symbol, bool& isOpen) const {
    switch (symbol.kind) {
    case SymbolKind::ThreadIdx:
        return builtinName(threadName, symbol.id);
    case SymbolKind::BlockIdx:
        return builtinName(blockName, symbol.id);
    case SymbolKind::BlockDim:
        return builtinName("blockDim", symbol.id);
    case SymbolKind::GridDim:
        return builtinName("gridDim", symbol.id);
    default:
        break;
    }
    if (const NestSymbol* known = nest_->symbols.find(symbol))
        return nameOf(*known, symbol, isOpen);
    isOpen = true;
    return "?";
}

std::string LaunchedKernel::nameOf(const NestSymbol& symbol, Symbol id, bool& isOpen) const {
    switch (symbol.kind) {
    case NestSymbolKind::Position:
        return positionName(symbol.axis);
    case NestSymbolKind::Parameter:
        return argumentOf(symbol.name);
    case NestSymbolKind::Iterator:
        if (const auto stride = strides_.find(id); stride != strides_.end())
            return fmt::format("each {} by {}", textOf(*stride->second->first, isOpen),
                               textOf(*stride->second->step, isOpen));
        break;
    case NestSymbolKind::Derived:
        if (symbol.choice.empty()) {
            std::string text = symbol.op;
            for (const IndexExpression& operand : symbol.operands)
                text += textOf(operand, isOpen);
            return text;
        }
        break;
    case NestSymbolKind::Value:
        break;
    }
    isOpen = true;
    return symbol.name;
}

std::string LaunchedKernel::argumentOf(const std::string& parameter) const {
    const auto dot = parameter.find('.');
    const std::string name = parameter.substr(0, dot);
    for (std::size_t i = 0; i < kernel_.parameters.size() && i < launch_.arguments.size(); ++i) {
        if (kernel_.parameters[i].name != name)
            continue;
        if (const auto number = host_.constantValue(launch_.arguments[i]))
            return std::to_string(*number);
        std::string text = "argument ";
        for (const Token& token : lex(file_.source->text(), launch_.argumentSpans.at(i)))
            text += token.text;
        return text + (dot == std::string::npos ? std::string() : parameter.substr(dot));
    }
    return "constant " + parameter;
}

std::set<std::uint32_t> LaunchedKernel::axes() const {
    std::set<std::uint32_t> axes;
    for (const NestFrame& frame : nest_->frames)
        for (const Expr& expr : functionOf(file_, kernel_, frame).body.exprs)
            if (expr.kind == ExprKind::BuiltinIndex &&
                (expr.name == threadName || expr.name == blockName))
                axes.insert(expr.axis);
    return axes;
}

std::optional<std::size_t> LaunchedKernel::parameterOf(NestArrayId id) const {
    const NestArray& array = nest_->arrays.at(id);
    if (array.frame != 0 || array.isLoaded || array.space != MemorySpace::Global)
        return std::nullopt;
    const auto found = std::ranges::find(kernel_.parameters, array.variable, &Parameter::variable);
    if (found == kernel_.parameters.end() || found->type.pointerDepth != 1)
        return std::nullopt;
    return static_cast<std::size_t>(found - kernel_.parameters.begin());
}

} // namespace kernelskill::skills
