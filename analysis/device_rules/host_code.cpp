#include "analysis/device_rules/rules.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace kernelskill::analysis {
namespace {

void checkIndices(const DeviceRuleInput& input, std::vector<Diagnostic>& findings) {
    for (const Span span : input.model.hostOnly.indexUses) {
        const std::string name(input.text.substr(span.begin, span.size()));
        findings.push_back(input.found(span, Severity::Error, "index-in-host-code",
                                       "'" + name +
                                           "' has a value only in device code: in host "
                                           "code the linker does not find it"));
    }
}

std::string_view lastPart(std::string_view name) {
    const auto colons = name.rfind("::");
    return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

/// Checks for host constexpr functions in device code, which nvcc accepts only with a flag.
void checkConstexpr(const DeviceRuleInput& input, std::vector<Diagnostic>& findings) {
    static constexpr auto ofTheLibrary =
        std::to_array<std::string_view>({"std::clamp", "std::max", "std::min"});
    std::set<std::string_view> hostOnly;
    for (const std::string& name : input.model.hostOnly.constexprFunctions)
        hostOnly.insert(lastPart(name));
    for (const KernelModel& function : input.model.deviceFunctions)
        hostOnly.erase(function.name);
    for (const auto* functions : {&input.model.kernels, &input.model.deviceFunctions})
        for (const KernelModel& function : *functions) {
            if (function.file != input.model.file || function.fromMacro)
                continue;
            for (const Expr& call : function.body.exprs) {
                const bool isCall =
                    call.kind == ExprKind::Call && !call.isMethod && !call.fromMacro;
                const bool isHostOnly =
                    isCall && (hostOnly.contains(lastPart(call.name)) ||
                               std::ranges::find(ofTheLibrary, call.name) != ofTheLibrary.end());
                if (!isHostOnly || function.kind == FunctionKind::HostDevice)
                    continue;
                const auto end = call.span.begin + static_cast<std::uint32_t>(call.name.size());
                findings.push_back(
                    input.found({call.span.begin, end}, Severity::Error, "relaxed-constexpr-flag",
                                "'" + call.name +
                                    "' is a constexpr function of the host: device code may "
                                    "call it with --expt-relaxed-constexpr, which this file is "
                                    "compiled without"));
            }
        }
}

/// Checks for `] __device__` after the captures of a lambda.
void checkLambdaFlag(const DeviceRuleInput& input, std::vector<Diagnostic>& findings) {
    for (std::size_t index = 1; index + 1 < input.tokens.size(); ++index) {
        const std::string_view attribute = input.tokens[index + 1].text;
        const bool isAttribute = attribute == "__device__" || attribute == "__host__";
        // `[[nodiscard]] __device__` is no lambda.
        if (isAttribute && input.tokens[index].text == "]" && input.tokens[index - 1].text != "]")
            findings.push_back(input.found(
                input.tokens[index + 1].span, Severity::Error, "extended-lambda-flag",
                "'" + std::string(attribute) +
                    "' on a lambda needs --extended-lambda, which this file is compiled without"));
    }
}

/// The end of the captures of the lambda that `argument` is or names; nullopt if it is no lambda,
/// or if the lambda is marked.
std::optional<std::uint32_t> unmarkedLambda(const DeviceRuleInput& input, const FunctionBody& host,
                                            ExprId argument) {
    const Expr* value = &host.expr(argument);
    if (value->kind == ExprKind::Variable && value->variable != noId) {
        const Variable& variable = host.variable(value->variable);
        if (variable.init == noId || variable.storage != Storage::Local)
            return std::nullopt;
        value = &host.expr(variable.init);
    }
    if (value->fromMacro || value->name != "lambda" || value->kind != ExprKind::Other)
        return std::nullopt;
    const std::vector<Token> tokens = lex(input.text, value->span);
    if (tokens.empty() || tokens.front().text != "[")
        return std::nullopt;
    const std::size_t close = matchingBracket(tokens, 0);
    if (close + 1 >= tokens.size())
        return std::nullopt;
    // The next word is an attribute, or a macro that may contain one.
    const std::string_view next = tokens[close + 1].text;
    return next == "(" || next == "{" ? std::optional(tokens[close].span.end) : std::nullopt;
}

void checkLambdas(const DeviceRuleInput& input, std::vector<Diagnostic>& findings) {
    std::set<std::uint32_t> seen;
    for (const KernelModel& kernel : input.model.kernels)
        for (const LaunchSite& site : kernel.launches) {
            const HostFunction& host = input.model.hostFunctions.at(site.host);
            if (host.file != input.model.file || site.fromMacro)
                continue;
            for (const ExprId argument : site.arguments) {
                const auto end =
                    argument != noId ? unmarkedLambda(input, host.body, argument) : std::nullopt;
                if (end && seen.insert(*end).second)
                    findings.push_back(
                        input.found({*end - 1, *end}, Severity::Error, "lambda-without-device",
                                    "a lambda that is passed to '" + kernel.name +
                                        "' is compiled only for the host: mark it __device__"));
            }
        }
}

} // namespace

void checkHostCode(const DeviceRuleInput& input, std::vector<Diagnostic>& findings) {
    checkIndices(input, findings);
    checkLambdas(input, findings);
    if (input.hasFlags && !input.command.relaxedConstexpr)
        checkConstexpr(input, findings);
    if (input.hasFlags && !input.command.extendedLambda)
        checkLambdaFlag(input, findings);
}

} // namespace kernelskill::analysis
