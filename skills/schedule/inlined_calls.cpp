#include "skills/schedule/inlined_calls.h"

#include "analysis/queries/loop_effects.h"
#include "analysis/queries/source_layout.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/fresh_names.h"
#include "skills/schedule/draft.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// A longer function is no loop that a kernel merely names.
constexpr std::size_t mostBytes = 3000;

/// Writes out one call of a kernel.
class CallWriter {
public:
    CallWriter(const SkillContext& context, const KernelModel& function, ExprId call)
        : context_(context), code_(context.code()), body_(code_.body()),
          source_(*context.file.source), layout_(source_, context.kernel), function_(function),
          inner_(function.body), innerCode_(inner_), call_(call), names_(body_) {}

    std::optional<std::vector<TextEdit>> edits() {
        const StmtId holder = code_.statement(call_);
        if (holder == noId || !canWriteOut() || !canPrecede(holder) || !bindParameters())
            return std::nullopt;
        for (VariableId id = 0; id < inner_.variables.size(); ++id)
            if (innerCode_.declarationOf(id) != noId)
                written_[id] = names_.add(inner_.variable(id).name);
        const std::uint32_t at = body_.stmt(holder).span.begin;
        CodeLines lines(layout_, layout_.indentation(at));
        for (const std::string& line : declarations_)
            lines.add(line);
        for (const StmtId statement : work_) {
            const Span span{beginWithPragma(inner_.stmt(statement)),
                            inner_.stmt(statement).span.end};
            const auto text = renamed(span);
            if (!text)
                return std::nullopt;
            lines.addBlock(*text, layout_.indentation(span.begin));
        }
        std::vector<TextEdit> edits{{{layout_.lineBegin(at), layout_.lineBegin(at)}, lines.text()}};
        if (result_ == noId) {
            edits.push_back({layout_.statementWithLine(body_.stmt(holder).span), ""});
            return edits;
        }
        const auto value = renamed(inner_.expr(result_).span);
        if (!value)
            return std::nullopt;
        const bool isName = inner_.expr(result_).kind == ExprKind::Variable;
        edits.push_back({body_.expr(call_).span, isName ? *value : "(" + *value + ")"});
        return edits;
    }

private:
    /// Whether the function is statements with a value at the end, and finds these.
    bool canWriteOut() {
        if (function_.fromMacro || function_.file != context_.kernel.file ||
            !function_.templateParameters.empty() || inner_.root == noId ||
            function_.loops.empty() || !function_.sharedArrays.empty() ||
            function_.bodySpan.size() > mostBytes || body_.expr(call_).fromMacro)
            return false;
        work_ = innerCode_.statementsOf(inner_.root);
        if (!work_.empty() && inner_.stmt(work_.back()).kind == StmtKind::Return) {
            result_ = inner_.stmt(work_.back()).expr;
            work_.pop_back();
        }
        if (meansOtherNames())
            return false;
        for (const StmtId id : work_) {
            if (!layout_.startsLine(beginWithPragma(inner_.stmt(id))))
                return false;
            for (const StmtId below : innerCode_.statementsIn(id)) {
                const Stmt& stmt = inner_.stmt(below);
                if (stmt.kind == StmtKind::Return || stmt.kind == StmtKind::Goto ||
                    stmt.kind == StmtKind::Asm || stmt.kind == StmtKind::Other)
                    return false;
            }
        }
        const bool isValue = body_.expr(call_).type.scalar != ScalarKind::Void;
        if (isValue != (result_ != noId))
            return false;
        if (!isValue)
            return true;
        const Type& given = inner_.expr(result_).type;
        const Type& wanted = body_.expr(call_).type;
        return given.scalar == wanted.scalar && given.scalar != ScalarKind::Unknown &&
               given.lanes == wanted.lanes && given.pointerDepth == wanted.pointerDepth;
    }

    /// Whether a name that the function has from outside means something else in the kernel.
    [[nodiscard]] bool meansOtherNames() const {
        return std::ranges::any_of(inner_.exprs, [&](const Expr& expr) {
            const bool isOutside = expr.kind == ExprKind::Call ||
                                   (expr.kind == ExprKind::Variable &&
                                    (expr.variable == noId || isGlobal(inner_, expr.variable)));
            if (!isOutside)
                return false;
            const std::string& name = expr.kind == ExprKind::Variable && expr.variable != noId
                                          ? inner_.variable(expr.variable).name
                                          : expr.name;
            for (VariableId id = 0; id < body_.variables.size(); ++id)
                if (body_.variable(id).name == name && !isGlobal(body_, id))
                    return true;
            return false;
        });
    }

    [[nodiscard]] static bool isGlobal(const FunctionBody& body, VariableId variable) {
        const Storage storage = body.variable(variable).storage;
        return storage == Storage::DeviceGlobal || storage == Storage::Constant ||
               storage == Storage::HostGlobal;
    }

    /// Whether the function's code may run before all else that the statement does.
    [[nodiscard]] bool canPrecede(StmtId holder) const {
        const Stmt& stmt = body_.stmt(holder);
        if (stmt.fromMacro || stmt.parent == noId ||
            body_.stmt(stmt.parent).kind != StmtKind::Compound ||
            !hasOwnLines(body_, layout_, holder, holder))
            return false;
        if (result_ == noId)
            return stmt.kind == StmtKind::Expression && stmt.expr == call_;
        ExprId whole = noId;
        if (stmt.kind == StmtKind::Declaration && stmt.declared.size() == 1)
            whole = body_.variable(stmt.declared[0]).init;
        else if (stmt.kind == StmtKind::Expression)
            whole = stmt.expr;
        if (whole == noId || storesAnything())
            return false;
        const Expr& outermost = body_.expr(whole);
        if (outermost.kind == ExprKind::Binary && isAssignment(outermost.op)) {
            if (!hasNoEffect(code_, outermost.children[0]))
                return false;
            whole = outermost.children[1];
        }
        for (ExprId at = call_; at != whole; at = code_.parent(at))
            if (at == noId || code_.mayBeSkipped(at))
                return false;
        const std::vector<ExprId> ofCall = code_.expressionsBelow(call_);
        return std::ranges::all_of(code_.expressionsBelow(whole),
                                   [&](ExprId id) {
                                       return id == call_ || std::ranges::count(ofCall, id) != 0 ||
                                              isWithoutEffect(id);
                                   }) &&
               std::ranges::all_of(body_.expr(call_).children,
                                   [&](ExprId argument) { return hasNoEffect(code_, argument); });
    }

    /// Whether evaluating the expression, what is below it aside, changes nothing.
    [[nodiscard]] bool isWithoutEffect(ExprId id) const {
        const Expr& at = body_.expr(id);
        return at.kind != ExprKind::Call && at.kind != ExprKind::Other && !at.type.isVolatile &&
               !(at.kind == ExprKind::Binary && isAssignment(at.op)) &&
               !(at.kind == ExprKind::Unary && (at.op.contains("++") || at.op.contains("--")));
    }

    [[nodiscard]] bool storesAnything() const {
        return !function_.barriers.empty() ||
               std::ranges::any_of(function_.accesses, [](const MemoryAccess& access) {
                   return access.kind != AccessKind::Read && access.space != MemorySpace::Local;
               });
    }

    /// Gives each parameter the name of its argument, or a variable of its own.
    bool bindParameters() {
        const std::vector<ExprId>& arguments = body_.expr(call_).children;
        if (arguments.size() != function_.parameters.size() || body_.expr(call_).isMethod)
            return false;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            const Parameter& parameter = function_.parameters[i];
            const Expr& argument = body_.expr(arguments[i]);
            if (argument.fromMacro || parameter.name.empty())
                return false;
            const bool isSame = argument.kind == ExprKind::Variable && argument.variable != noId &&
                                argument.type.scalar == parameter.type.scalar &&
                                argument.type.lanes == parameter.type.lanes &&
                                argument.type.pointerDepth == parameter.type.pointerDepth &&
                                argument.type.arrayExtents.empty();
            const bool isFixed = !innerCode_.isEverWritten(parameter.variable) && isSame &&
                                 !code_.isEverWritten(argument.variable);
            if (isFixed || (parameter.type.isReference && isSame)) {
                written_[parameter.variable] = body_.variable(argument.variable).name;
                continue;
            }
            if (parameter.type.isReference || parameter.type.spelling.contains('['))
                return false;
            const std::string name = names_.add(parameter.name);
            written_[parameter.variable] = name;
            declarations_.push_back(fmt::format("{} {} = {};", parameter.type.spelling, name,
                                                source_.slice(argument.span)));
        }
        return true;
    }

    /// A part of the function with the names that its variables have in the kernel.
    [[nodiscard]] std::optional<std::string> renamed(Span span) const {
        std::vector<TextEdit> edits;
        const auto rename = [&](Span at, VariableId id) {
            const std::string& name = inner_.variable(id).name;
            const Span place{at.begin, at.begin + static_cast<std::uint32_t>(name.size())};
            if (source_.slice(place) != name)
                return false;
            edits.push_back({place, written_.at(id)});
            return true;
        };
        for (const auto& [id, name] : written_) {
            if (name == inner_.variable(id).name)
                continue;
            const Span declared = inner_.variable(id).span;
            if (innerCode_.declarationOf(id) != noId && span.contains(declared) &&
                !rename(declared, id))
                return std::nullopt;
            for (const ExprId use : innerCode_.uses(id)) {
                const Expr& expr = inner_.expr(use);
                if (span.contains(expr.span) && (expr.fromMacro || !rename(expr.span, id)))
                    return std::nullopt;
            }
        }
        return rewritten(source_, span, std::move(edits));
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    const KernelModel& function_;
    const FunctionBody& inner_;
    CodeMap innerCode_;
    ExprId call_;
    FreshNames names_;
    std::vector<StmtId> work_; ///< The function's statements but for a return at its end.
    ExprId result_ = noId;     ///< What it returns; noId: nothing.
    std::vector<std::string> declarations_;
    std::map<VariableId, std::string> written_; ///< The function's variables in the kernel.
};

} // namespace

std::vector<TextEdit> inlinedCall(const SkillContext& context) {
    const Nest& nest = context.shared().nest();
    for (const NestFrame& frame : nest.frames) {
        if (frame.function == noId || frame.caller != 0)
            continue;
        const KernelModel& function = context.file.deviceFunctions.at(frame.function);
        if (auto edits = CallWriter(context, function, frame.call).edits())
            return *std::move(edits);
    }
    return {};
}

} // namespace kernelskill::skills
