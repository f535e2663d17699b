#include "analysis/nest/builder.h"

#include "analysis/nest/dimensions.h"
#include "analysis/source/decimal.h"

#include <algorithm>

namespace kernelskill::analysis {

bool isNestInteger(const Type& type) {
    return type.pointerDepth == 0 && type.arrayExtents.empty() && type.lanes == 1 &&
           type.scalar >= ScalarKind::Bool && type.scalar <= ScalarKind::UInt64;
}

bool isNestPointer(const Type& type) {
    return type.pointerDepth > 0 && type.arrayExtents.empty();
}

NestBuilder::NestBuilder(const FileModel& file, const KernelModel& kernel)
    : file_(file), kernel_(kernel) {}

Nest NestBuilder::build() {
    nest_.kernel = kernel_.qualifiedName;
    frames_.emplace_back().function = &kernel_;
    nest_.frames.emplace_back();
    readLaunches();
    bindTemplate();
    if (kernel_.body.root != noId)
        (void)walk(kernel_.body.root);
    splitDimensions(nest_);
    return std::move(nest_);
}

/// Takes grid and block from the launches, if all of the file have the same.
void NestBuilder::readLaunches() {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        std::optional<std::int64_t> block;
        bool agree = !kernel_.launches.empty();
        for (const LaunchSite& launch : kernel_.launches) {
            const std::int64_t size =
                axis < launch.constantBlock.size() ? launch.constantBlock[axis] : 0;
            agree = agree && size > 0 && (!block || block == size);
            block = size;
        }
        if (agree)
            nest_.extents.block[axis] = block;
    }
}

void NestBuilder::bindTemplate() {
    for (std::size_t i = 0; i < kernel_.templateParameters.size(); ++i) {
        const TemplateParameter& parameter = kernel_.templateParameters[i];
        std::optional<std::string> value;
        bool agree = true;
        for (const LaunchSite& launch : kernel_.launches) {
            if (i >= launch.templateArguments.size())
                continue;
            const std::string& argument = launch.templateArguments[i];
            agree = agree && !argument.empty() && (!value || *value == argument);
            value = argument;
        }
        if (!value)
            value = parameter.defaultArgument;
        if (value && agree)
            nest_.instantiation[parameter.name] = *value;
    }
    for (const auto& [name, value] : nest_.instantiation)
        bindConstant(name, value);
}

/// Gives a template parameter of the current frame its number; leaves types alone.
void NestBuilder::bindConstant(std::string_view name, std::string_view value) {
    const std::optional<std::int64_t> number = value == "true"    ? 1
                                               : value == "false" ? 0
                                                                  : decimalIn(value);
    if (!number)
        return;
    frames_[frame_].constants.emplace(name, *number);
    const FunctionBody& code = body();
    for (VariableId id = 0; id < code.variables.size(); ++id)
        if (code.variables[id].storage == Storage::HostGlobal && code.variables[id].name == name)
            set({frame_, id, ""}, {IndexExpression::constant(*number), std::nullopt});
}

std::string NestBuilder::text(ExprId id) const {
    const KernelModel& function = *frames_[frame_].function;
    const Span span = expr(id).span;
    constexpr std::size_t longest = 60;
    if (file_.source == nullptr || function.file != file_.file ||
        span.end > file_.source->text().size() || span.end <= span.begin)
        return treeText(id);
    std::string result(file_.source->text().substr(span.begin, span.size()));
    std::ranges::replace(result, '\n', ' ');
    if (result.size() > longest)
        result = result.substr(0, longest - 3) + "...";
    return result;
}

std::string NestBuilder::treeText(ExprId id, int depth) const {
    constexpr int deepest = 6;
    if (depth > deepest)
        return "...";
    const Expr& expression = expr(id);
    const auto child = [&](std::size_t i) { return treeText(expression.children[i], depth + 1); };
    const std::size_t count = expression.children.size();
    switch (expression.kind) {
    case ExprKind::Integer:
        return std::to_string(expression.integer);
    case ExprKind::Floating:
        return std::to_string(expression.floating);
    case ExprKind::BuiltinIndex:
        return expression.name + "." + "xyz"[std::min<int>(expression.axis, 2)];
    case ExprKind::Subscript:
        return child(0) + "[" + child(1) + "]";
    case ExprKind::Member:
        return (count == 0 ? std::string() : child(0) + (expression.isArrow ? "->" : ".")) +
               expression.name;
    case ExprKind::Unary:
        return expression.op.starts_with('p') ? child(0) + expression.op.substr(1)
                                              : expression.op + child(0);
    case ExprKind::Binary:
        return child(0) + " " + expression.op + " " + child(1);
    case ExprKind::Cast:
        return child(0);
    case ExprKind::Conditional:
        return child(0) + " ? " + child(1) + " : " + child(2);
    default:
        break;
    }
    std::string text = expression.name;
    for (std::size_t i = 0; i < count; ++i)
        text += (i == 0 ? "(" : ", ") + child(i);
    return count == 0 ? text : text + ")";
}

NestNodeId NestBuilder::append(NestNode node) {
    const auto id = static_cast<NestNodeId>(nest_.nodes.size());
    node.parent = parent_;
    node.frame = frame_;
    nest_.nodes.push_back(std::move(node));
    if (parent_ == noId)
        nest_.roots.push_back(id);
    else
        nest_.nodes[parent_].children.push_back(id);
    return id;
}

NestCondition NestBuilder::unknownCondition(std::string text) {
    return NestCondition::unknown(std::move(text), unknownCount_++);
}

IndexExpression NestBuilder::freshValue(const std::string& name, const Type& type,
                                        ExprId expression, VariableId variable) {
    NestSymbol symbol;
    symbol.kind = NestSymbolKind::Value;
    symbol.name = name;
    symbol.frame = frame_;
    symbol.expression = expression;
    symbol.variable = variable;
    symbol.isNotNegative = type.scalar == ScalarKind::Bool ||
                           (type.scalar >= ScalarKind::UInt8 && type.scalar <= ScalarKind::UInt64);
    return IndexExpression::symbol(nest_.symbols.add(std::move(symbol)));
}

Nest buildNest(const FileModel& file, const KernelModel& kernel) {
    return NestBuilder(file, kernel).build();
}

std::shared_ptr<const Nest> nestOf(const FileModel& file, const KernelModel& kernel) {
    const auto make = [&] { return std::make_shared<const Nest>(buildNest(file, kernel)); };
    const bool isOfFile =
        std::ranges::any_of(file.kernels, [&](const KernelModel& own) { return &own == &kernel; });
    return isOfFile ? file.nests.of(kernel, make) : make(); // Others may be gone before the file.
}

const KernelModel& functionOf(const FileModel& file, const KernelModel& kernel,
                              const NestFrame& frame) {
    return frame.function == noId ? kernel : file.deviceFunctions.at(frame.function);
}

std::vector<NestNodeId> around(const Nest& nest, NestNodeId node) {
    std::vector<NestNodeId> result;
    for (NestNodeId at = nest.node(node).parent; at != noId; at = nest.node(at).parent)
        result.push_back(at);
    std::ranges::reverse(result);
    return result;
}

std::vector<NestNodeId> commonLoops(const Nest& nest, NestNodeId a, NestNodeId b) {
    std::vector<NestNodeId> loops;
    const std::vector<NestNodeId> other = around(nest, b);
    for (const NestNodeId id : around(nest, a))
        if (nest.node(id).loop() != nullptr && std::ranges::find(other, id) != other.end())
            loops.push_back(id);
    return loops;
}

} // namespace kernelskill::analysis
