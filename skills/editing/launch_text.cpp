#include "skills/editing/launch_text.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/queries/launch_values.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/queries/value_spelling.h"
#include "skills/base/gates.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/operand_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isInteger(const Type& type) {
    return isIndexType(type) && !type.isReference && type.arrayExtents.empty();
}

class LaunchText {
public:
    LaunchText(const SkillContext& context, const LaunchSite& launch)
        : kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          source_(*context.file.source), launch_(launch),
          host_(context.shared().host(launch.host)) {}

    [[nodiscard]] std::optional<std::string> of(ExprId id) const {
        const Span span = body_.expr(id).span;
        std::vector<TextEdit> parts;
        if (!isInteger(body_.expr(id).type) || source_.slice(span).empty() || !collect(id, parts))
            return std::nullopt;
        return rewritten(source_, span, std::move(parts));
    }

    [[nodiscard]] std::optional<std::string> operand(ExprId id) const {
        auto text = of(id);
        const ExprKind kind = body_.expr(id).kind;
        if (text && kind != ExprKind::Variable && kind != ExprKind::Integer &&
            kind != ExprKind::Member)
            *text = "(" + *text + ")";
        return text;
    }

private:
    /// Adds an edit for each of the kernel's names. False where the value has no form at the
    /// launch.
    bool collect(ExprId id, std::vector<TextEdit>& parts) const {
        const Expr& expr = body_.expr(id);
        if (expr.fromMacro)
            return false;
        switch (expr.kind) {
        case ExprKind::Integer:
            return true;
        case ExprKind::Variable:
            return addVariable(expr, parts);
        case ExprKind::Member:
            return !expr.isArrow && !expr.isMethod && expr.children.size() == 1 &&
                   body_.expr(expr.children[0]).kind == ExprKind::Variable &&
                   collect(expr.children[0], parts);
        case ExprKind::Cast:
            if (!isInteger(expr.type))
                return false;
            break;
        case ExprKind::Binary:
            if (expr.op != "+" && expr.op != "-" && expr.op != "*" && expr.op != "/" &&
                expr.op != "%")
                return false;
            break;
        default:
            return false;
        }
        return std::ranges::all_of(expr.children,
                                   [&](ExprId child) { return collect(child, parts); });
    }

    bool addVariable(const Expr& use, std::vector<TextEdit>& parts) const {
        if (use.variable == noId || code_.isEverWritten(use.variable))
            return false;
        const Variable& variable = body_.variable(use.variable);
        if (variable.type.isReference)
            return false;
        if (variable.storage == Storage::Local) {
            const auto value = isInteger(variable.type) && variable.init != noId ? of(variable.init)
                                                                                 : std::nullopt;
            if (value)
                parts.push_back({use.span, asType(variable.type, body_.expr(variable.init).type,
                                                  "(" + *value + ")")});
            return value.has_value();
        }
        const auto at = std::ranges::find(kernel_.parameters, use.variable, &Parameter::variable);
        const auto index = static_cast<std::size_t>(at - kernel_.parameters.begin());
        if (at == kernel_.parameters.end() || index >= launch_.arguments.size())
            return false;
        const Expr& argument = host_.body().expr(launch_.arguments[index]);
        const bool isRecord = variable.type.scalar == ScalarKind::Unknown &&
                              variable.type.pointerDepth == 0 &&
                              argument.kind == ExprKind::Variable &&
                              variable.type.canonical == argument.type.canonical;
        if (argument.fromMacro || !hasNoEffect(host_, launch_.arguments[index]) ||
            (!isRecord && (!isInteger(variable.type) || !isInteger(argument.type))))
            return false;
        const std::string text = besideProduct(source_, argument);
        parts.push_back({use.span, isRecord ? text : asType(variable.type, argument.type, text)});
        return true;
    }

    /// Casts the operand to `type`, unless it has that type already.
    [[nodiscard]] static std::string asType(const Type& type, const Type& given,
                                            const std::string& operand) {
        return type.scalar == given.scalar
                   ? operand
                   : fmt::format("static_cast<{}>({})", valueSpelling(type), operand);
    }

    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    const LaunchSite& launch_;
    const CodeMap& host_;
};

} // namespace

std::optional<std::string> textAtLaunch(const SkillContext& context, const LaunchSite& launch,
                                        ExprId expr) {
    return LaunchText(context, launch).operand(expr);
}

std::optional<std::string> blockWidthText(const SkillContext& context, const LaunchSite& launch) {
    const SourceText& source = *context.file.source;
    const FunctionBody& host = context.file.hostFunctions[launch.host].body;
    const Expr& block = host.expr(launch.block);
    if (block.fromMacro) {
        const auto width = LaunchValues(context.shared(), launch).block()[0];
        return width ? std::optional(std::to_string(*width)) : std::nullopt;
    }
    if (isDim3Name(block))
        return std::string(source.slice(block.span)) + ".x";
    if (block.kind == ExprKind::InitList)
        return block.children.empty() || host.expr(block.children[0]).fromMacro
                   ? std::nullopt
                   : std::optional(besideProduct(source, host.expr(block.children[0])));
    return isInteger(block.type) ? std::optional(besideProduct(source, block)) : std::nullopt;
}

} // namespace kernelskill::skills
