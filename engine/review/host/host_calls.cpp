#include "analysis/queries/host_statements.h"
#include "analysis/queries/kernel_footprint.h"
#include "analysis/queries/kernel_reach.h"
#include "analysis/queries/launch_intervals.h"
#include "analysis/queries/standard_swap.h"
#include "engine/review/host/host_interpreter.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <utility>

namespace kernelskill::engine {

using analysis::Expr;
using analysis::ExprId;
using analysis::ExprKind;
using analysis::LaunchSite;
using analysis::noId;
using analysis::VariableId;

std::string_view withoutScope(std::string_view name) {
    const auto scope = name.rfind(':');
    return scope == std::string_view::npos ? name : name.substr(scope + 1);
}

bool isPureFunction(std::string_view name) {
    constexpr std::array names = {"min",  "max",  "sqrt", "sqrtf", "abs", "fabs",  "fabsf", "ceil",
                                  "pow",  "powf", "exp",  "expf",  "log", "logf",  "floor", "ceilf",
                                  "data", "size", "get",  "begin", "end", "empty", "c_str"};
    return std::ranges::find(names, withoutScope(name)) != names.end();
}

bool takesValues(std::string_view name) {
    constexpr std::array names = {"printf", "fprintf", "puts", "exit", "free", "malloc", "assert"};
    return std::ranges::find(names, withoutScope(name)) != names.end();
}

namespace {

/// nullopt where grid or block is not known.
std::optional<analysis::LaunchNumbers> numbersOf(const HostValue& grid, const HostValue& block,
                                                 const std::vector<HostValue>& arguments) {
    analysis::LaunchNumbers numbers;
    for (std::size_t axis = 0; axis < numbers.grid.size(); ++axis) {
        if (grid.extents.size() <= axis || block.extents.size() <= axis)
            return std::nullopt;
        const auto blocks = certainNumber(grid.extents[axis]);
        const auto threads = certainNumber(block.extents[axis]);
        if (!blocks || !threads)
            return std::nullopt;
        numbers.grid.at(axis) = *blocks;
        numbers.block.at(axis) = *threads;
    }
    for (const HostValue& argument : arguments)
        numbers.arguments.push_back(certainNumber(argument));
    return numbers;
}

} // namespace

const LaunchSite* HostInterpreter::launchOf(const Expr& expr) const {
    if (expr.kind != ExprKind::Call)
        return nullptr;
    const auto found = std::ranges::find_if(launches_, [&](const LaunchSite* launch) {
        return launch->span == expr.span && launch->arguments == expr.children;
    });
    return found == launches_.end() ? nullptr : *found;
}

void HostInterpreter::addLaunch(const LaunchSite& launch, const Expr& expr) {
    std::string what = launch.kernelName;
    for (const std::string& argument : launch.templateArguments)
        what += (&argument == launch.templateArguments.data() ? "<" : ",") + argument;
    what += launch.templateArguments.empty() ? "" : ">";
    const HostValue shared =
        launch.sharedBytes == noId ? integerValue(0) : evaluate(launch.sharedBytes);
    const HostValue grid = asExtents(evaluate(launch.grid));
    const HostValue block = asExtents(evaluate(launch.block));
    std::string configuration =
        fmt::format("<<<{}, {}, {}>>>", textOf(grid), textOf(block), textOf(shared));
    what += configuration + "(";
    std::vector<HostValue> arguments;
    std::vector<std::string> values;
    for (const ExprId argument : launch.arguments) {
        arguments.push_back(evaluate(argument));
        values.push_back(textOf(arguments.back()));
        what += (arguments.size() == 1 ? "" : ", ") + values.back();
    }
    const HostValue stream = launch.stream == noId ? integerValue(0) : evaluate(launch.stream);
    if (isStopped())
        return;
    HostStep step{HostStepKind::Launch, what + ")", {}, lineOf(expr.span)};
    step.kernel = launch.kernelName;
    step.configuration = std::move(configuration);
    step.arguments = std::move(values);
    step.memory = memoryOf(launch, grid, block, arguments);
    if (auto added = runtime_.launch(std::move(step), stream); !added)
        failure_ = added.error();
}

std::optional<std::vector<MemoryUse>>
HostInterpreter::memoryOf(const LaunchSite& launch, const HostValue& grid, const HostValue& block,
                          const std::vector<HostValue>& arguments) {
    const analysis::KernelModel* kernel = analysis::kernelOf(file_, launch);
    if (kernel == nullptr)
        return std::nullopt;
    const analysis::KernelFootprint footprint = analysis::footprintOf(file_, *kernel);
    if (!footprint.unknown.empty() || arguments.size() > footprint.parameters.size())
        return std::nullopt;
    const auto numbers = numbersOf(grid, block, arguments);
    const analysis::KernelReach& reach = reaches_.try_emplace(kernel, *kernel).first->second;
    std::vector<MemoryUse> memory;
    for (std::size_t i = 0; i < footprint.parameters.size(); ++i) {
        const analysis::PointerUse& use = footprint.parameters[i];
        if (!use.isRead && !use.isWritten)
            continue;
        memory.push_back({i < arguments.size() ? arguments[i].object : "", use.isWritten});
        const auto bytes = numbers ? reach.of(i, *numbers) : std::nullopt;
        if (bytes && i < arguments.size() && arguments[i].offset)
            memory.back().bytes = analysis::movedBy(*bytes, *arguments[i].offset);
    }
    return memory;
}

bool HostInterpreter::asksTheDevice(const std::string& function) {
    if (!queries_)
        queries_ = deviceQueries(file_.source->text());
    return host_.file == file_.file && queries_->contains(function);
}

HostValue HostInterpreter::call(const Expr& expr) {
    const std::string name(withoutScope(expr.name));
    if (analysis::isStandardSwap(*file_.source, expr)) {
        const HostValue first = evaluate(expr.children[0]);
        const HostValue second = evaluate(expr.children[1]);
        store(expr.children[0], second);
        store(expr.children[1], first);
        return termValue("nothing");
    }
    // A function that is handed the status of a call is taken for a mere check of it.
    const bool isCheck = std::ranges::any_of(expr.children, [&](ExprId child) {
        const Expr& argument = body_.expr(code_.withoutCasts(child));
        return argument.kind == ExprKind::Call && isRuntimeCall(argument.name);
    });
    std::vector<HostValue> arguments;
    for (const ExprId child : expr.children)
        arguments.push_back(evaluate(child));
    if (isStopped())
        return termValue("nothing");
    if (!expr.isMethod && isRuntimeCall(expr.name)) {
        auto effect = runtime_.call({name, std::move(arguments), lineOf(expr.span)});
        if (!effect) {
            failure_ = effect.error();
            return termValue("nothing");
        }
        for (auto& [place, value] : effect->writes)
            (place.element == wholeVariable ? values_[place.variable] : elements_[place]) =
                std::move(value);
        filled_.insert(effect->filled.begin(), effect->filled.end());
        return effect->result;
    }
    if (isCheck)
        return termValue("nothing");
    const bool isLeast = name == "min";
    if ((isLeast || name == "max") && arguments.size() == 2 && arguments[0].integer &&
        arguments[1].integer) {
        HostValue value =
            integerValue(isLeast ? std::min(*arguments[0].integer, *arguments[1].integer)
                                 : std::max(*arguments[0].integer, *arguments[1].integer));
        value.isAssumed = arguments[0].isAssumed || arguments[1].isAssumed;
        return value;
    }
    std::string text = expr.name + "(";
    for (const HostValue& argument : arguments)
        text += textOf(argument) + ",";
    text += ")";
    if (isPureFunction(expr.name) || (!expr.isMethod && asksTheDevice(name)))
        return termValue(fmt::format("{}@{}", text, epoch()));
    for (const HostValue& argument : arguments) {
        if (argument.pointee == noId)
            continue;
        escaped_.insert(argument.pointee);
        const auto held = values_.find(argument.pointee);
        if (held != values_.end() && runtime_.streams().contains(held->second.term))
            fail(expr.span, "a stream may be exchanged for another");
    }
    hostStep(expr.span, text);
    for (std::size_t i = 0; i < expr.children.size(); ++i) {
        const VariableId named = arguments[i].pointee != noId
                                     ? arguments[i].pointee
                                     : code_.namedVariable(expr.children[i]);
        const bool isChanged = arguments[i].pointee != noId || !isCopied(expr.children[i]);
        if (named != noId && isLocal(named) && isChanged && !takesValues(expr.name))
            values_[named] = unknown(body_.variable(named).name);
    }
    return termValue(fmt::format("{}@{}", text, epoch()));
}

HostValue HostInterpreter::other(const Expr& expr) {
    const std::string text = textAt(expr.span);
    if (text.contains("cuda") || text.contains("<<<") || expr.fromMacro) {
        fail(expr.span, "what this expression does is not followed");
        return termValue("nothing");
    }
    for (const ExprId child : expr.children)
        evaluate(child);
    hostStep(expr.span, text);
    return termValue(fmt::format("({})@{}", text, epoch()));
}

} // namespace kernelskill::engine
