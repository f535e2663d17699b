#include "analysis/device_rules/rules.h"

#include <algorithm>
#include <array>
#include <string>

namespace kernelskill::analysis {
namespace {

/// The first architecture with an atomicAdd on such elements; 0 if all have it.
int firstWithAddition(const Type& type) {
    switch (type.scalar) {
    case ScalarKind::Double:
        return 60;
    // Older architectures add pairs with atomicCAS.
    case ScalarKind::Half:
    case ScalarKind::BFloat16:
        return type.lanes == 2 ? 0 : 70;
    case ScalarKind::Float:
        return type.lanes > 1 ? 90 : 0;
    default:
        return 0;
    }
}

/// `atomicAdd_block` is Add with a scope; a name that is not CUDA's has no operation.
struct AtomicName {
    std::string_view operation;
    bool hasScope = false;
};

AtomicName atomicName(std::string_view name) {
    constexpr auto operations = std::to_array<std::string_view>(
        {"Add", "And", "CAS", "Dec", "Exch", "Inc", "Max", "Min", "Or", "Sub", "Xor"});
    constexpr std::string_view prefix = "atomic";
    if (!name.starts_with(prefix))
        return {};
    name.remove_prefix(prefix.size());
    AtomicName found;
    for (const std::string_view scope : {"_block", "_system"})
        if (name.ends_with(scope)) {
            name.remove_suffix(scope.size());
            found.hasScope = true;
        }
    found.operation =
        std::ranges::find(operations, name) != operations.end() ? name : std::string_view{};
    return found;
}

void checkCall(const DeviceRuleInput& input, const FunctionBody& body, const Expr& call,
               std::vector<Diagnostic>& findings) {
    constexpr int firstWithScopes = 60;
    const AtomicName name = atomicName(call.name);
    if (call.kind != ExprKind::Call || call.isMethod || call.fromMacro || call.children.empty() ||
        name.operation.empty())
        return;
    const Type& target = body.expr(call.children.front()).type;
    const bool isAddition = name.operation == "Add" && !target.isDependent;
    const int first =
        std::max(isAddition ? firstWithAddition(target) : 0, name.hasScope ? firstWithScopes : 0);
    if (*input.architecture >= first)
        return;
    const auto length = static_cast<std::uint32_t>(call.name.size());
    findings.push_back(input.found(
        {call.span.begin, call.span.begin + length}, Severity::Error, "unsupported-atomic",
        "'" + call.name + "' of '" + target.canonical + "' is there from sm_" +
            std::to_string(first) + " on, and this is compiled for sm_" +
            std::to_string(*input.architecture)));
}

} // namespace

void checkAtomics(const DeviceRuleInput& input, std::vector<Diagnostic>& findings) {
    if (!input.architecture)
        return;
    for (const auto* functions : {&input.model.kernels, &input.model.deviceFunctions})
        for (const KernelModel& function : *functions)
            if (function.file == input.model.file)
                for (const Expr& expr : function.body.exprs)
                    checkCall(input, function.body, expr, findings);
}

} // namespace kernelskill::analysis
