#include "engine/review/host/host_interpreter.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::engine {

using analysis::Expr;
using analysis::ExprId;
using analysis::ExprKind;
using analysis::LaunchSite;
using analysis::noId;
using analysis::Stmt;
using analysis::StmtId;
using analysis::StmtKind;
using analysis::Storage;
using analysis::Variable;
using analysis::VariableId;

HostInterpreter::HostInterpreter(const analysis::FileModel& file, std::uint32_t function,
                                 const HostScenario& scenario, const std::stop_token& stop)
    : file_(file), host_(file.hostFunctions.at(function)), body_(host_.body), code_(body_),
      scenario_(scenario), stop_(stop) {
    for (const analysis::KernelModel& kernel : file.kernels)
        for (const LaunchSite& launch : kernel.launches)
            if (launch.host == function)
                launches_.push_back(&launch);
}

Result<HostTrace> HostInterpreter::run() {
    std::int64_t next = scenario_.firstInteger;
    for (VariableId id = 0; id < body_.variables.size(); ++id) {
        const Variable& variable = body_.variable(id);
        if (variable.storage != Storage::Parameter)
            continue;
        const bool isInteger = variable.type.pointerDepth == 0 && !variable.type.isReference &&
                               variable.type.arrayExtents.empty() &&
                               variable.type.scalar >= analysis::ScalarKind::Int16 &&
                               variable.type.scalar <= analysis::ScalarKind::UInt64;
        values_[id] = isInteger ? integerValue(next++) : termValue("argument:" + variable.name);
        values_[id].isAssumed = isInteger;
        if (variable.type.pointerDepth > 0 && !variable.type.isReference) {
            values_[id].object =
                (variable.type.isRestrict ? "restrict:" : "argument:") + variable.name;
            values_[id].offset = 0;
        }
    }
    if (body_.root != noId)
        statement(body_.root);
    if (failure_)
        return std::unexpected(*failure_);
    if (undecided_.empty() && runtime_.isCapturing())
        return std::unexpected(
            Error{ErrorKind::Unsupported, "a capture is begun and not ended", "", ""});
    return HostTrace{runtime_.takeSteps(), undecided_, runtime_.streams()};
}

std::uint32_t HostInterpreter::lineOf(analysis::Span span) const {
    return host_.file == file_.file ? file_.source->lineColumn(span.begin).line + 1 : 0;
}

void HostInterpreter::fail(analysis::Span span, std::string what) {
    if (isStopped())
        return;
    const std::uint32_t line = lineOf(span);
    failure_ = Error{ErrorKind::Unsupported, std::move(what),
                     line == 0 ? "" : fmt::format("line {}", line), ""};
}

void HostInterpreter::hostStep(analysis::Span span, std::string what) {
    if (runtime_.isCapturing() && !isStopped()) {
        fail(span, "the host does other work while a stream is captured");
        return;
    }
    ++hostSteps_;
    runtime_.add({HostStepKind::Host, std::move(what), {}, lineOf(span)});
    for (const VariableId variable : escaped_)
        values_[variable] = unknown(body_.variable(variable).name);
}

void HostInterpreter::readStep(analysis::Span span, const std::string& what,
                               const std::string& object) {
    if (isNamingPlace_ || isStopped())
        return;
    HostStep step{HostStepKind::Read, "reads " + what, {}, lineOf(span)};
    step.memory = {{object, false}};
    runtime_.add(std::move(step));
}

std::string HostInterpreter::textAt(analysis::Span span) const {
    return host_.file == file_.file ? std::string(file_.source->slice(span)) : std::string();
}

HostInterpreter::Flow HostInterpreter::statement(StmtId id) {
    if (stop_.stop_requested() && !isStopped())
        failure_ = Error{ErrorKind::Cancelled, "it was cancelled", "", ""};
    if (isStopped())
        return Flow::Return;
    const Stmt& stmt = body_.stmt(id);
    if (++steps_ > maxSteps) {
        fail(stmt.span, "the function takes too many steps to follow");
        return Flow::Return;
    }
    switch (stmt.kind) {
    case StmtKind::Compound:
        return all(stmt.children);
    case StmtKind::Declaration:
        for (const VariableId variable : stmt.declared)
            declare(variable);
        return Flow::Next;
    case StmtKind::Expression:
        evaluate(stmt.expr);
        return Flow::Next;
    case StmtKind::Null:
        return Flow::Next;
    case StmtKind::Return:
        if (stmt.expr != noId)
            hostStep(stmt.span, "return " + textOf(evaluate(stmt.expr)));
        return Flow::Return;
    case StmtKind::Break:
        return Flow::Break;
    case StmtKind::Continue:
        return Flow::Continue;
    case StmtKind::If:
        return branch(id, stmt);
    case StmtKind::For:
    case StmtKind::While:
    case StmtKind::Do:
        if (isHostAlone(id))
            return summarise(id);
        return loop(stmt);
    default:
        if (isHostAlone(id))
            return summarise(id);
        fail(stmt.span, "what this statement does is not followed");
        return Flow::Return;
    }
}

HostInterpreter::Flow HostInterpreter::all(const std::vector<StmtId>& statements) {
    for (const StmtId child : statements)
        if (const Flow flow = statement(child); flow != Flow::Next || isStopped())
            return flow;
    return Flow::Next;
}

void HostInterpreter::declare(VariableId id) {
    const Variable& variable = body_.variable(id);
    if (variable.type.isReference && !variable.type.pointeeConst)
        fail(variable.span, fmt::format("{} is another name of something", variable.name));
    if (variable.init != noId) {
        HostValue value = converted(evaluate(variable.init), variable.type);
        value.isAssumed |= isUnderAssumption_;
        if (isDim3(variable.type))
            value = asExtents(std::move(value));
        values_[id] = std::move(value);
        return;
    }
    if (isDim3(variable.type))
        values_[id] = asExtents(integerValue(1));
    else
        values_[id] = termValue(fmt::format("object:{}", variable.name));
    if (!variable.type.arrayExtents.empty()) {
        values_[id].object = values_[id].term;
        values_[id].offset = 0;
    }
    if (isHandleArray(id))
        std::erase_if(elements_, [&](const auto& known) { return known.first.variable == id; });
}

HostInterpreter::Flow HostInterpreter::summarise(StmtId id) {
    const Stmt& stmt = body_.stmt(id);
    std::set<VariableId> read;
    std::set<VariableId> changed;
    for (const ExprId expr : code_.expressionsIn(id)) {
        const Expr& at = body_.expr(expr);
        if (at.kind == ExprKind::Variable && at.variable != noId) {
            if (isHandleArray(at.variable))
                fail(at.span, fmt::format("which stream of {} is meant is not known",
                                          body_.variable(at.variable).name));
            read.insert(at.variable);
            if (code_.isWrite(expr) || isArgument(expr))
                changed.insert(at.variable);
        }
    }
    std::string what = textAt(stmt.span);
    for (const VariableId variable : read)
        if (const auto value = values_.find(variable); value != values_.end())
            what += fmt::format("; {} = {}", body_.variable(variable).name, textOf(value->second));
    hostStep(stmt.span, termValue(std::move(what)).term);
    for (const VariableId variable : changed)
        values_[variable] = unknown(body_.variable(variable).name);
    return Flow::Next;
}

bool HostInterpreter::isArgument(ExprId expr) const {
    const ExprId parent = code_.parent(expr);
    return parent != noId && body_.expr(parent).kind == ExprKind::Call && !isCopied(expr) &&
           !takesValues(body_.expr(parent).name) && !isPureFunction(body_.expr(parent).name);
}

bool HostInterpreter::isCopied(ExprId argument) const {
    const Expr& expr = body_.expr(argument);
    return expr.type.pointerDepth > 0 && expr.type.arrayExtents.empty() && !expr.isOutput;
}

std::size_t HostInterpreter::epoch() {
    for (; counted_ < runtime_.steps().size(); ++counted_) {
        const HostStep& step = runtime_.steps()[counted_];
        if (step.kind == HostStepKind::Launch)
            epoch_ += scenario_.standForTwo.contains(step.kernel) ? 2 : 1;
        else if (step.kind == HostStepKind::Copy || step.kind == HostStepKind::Call ||
                 step.kind == HostStepKind::Host)
            ++epoch_;
    }
    return epoch_;
}

HostValue HostInterpreter::unknown(const std::string& name) const {
    return termValue(fmt::format("{}@host{}", name, hostSteps_));
}

Result<HostTrace> traceHost(const analysis::FileModel& file, std::uint32_t function,
                            const HostScenario& scenario, const std::stop_token& stop) {
    return HostInterpreter(file, function, scenario, stop).run();
}

} // namespace kernelskill::engine
