#include "engine/graph/torch/torch_operators.h"

#include "engine/graph/torch/decompositions.h"
#include "engine/graph/torch/torch_names.h"

#include <algorithm>
#include <optional>
#include <string>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <utility>

namespace kernelskill::engine::graph {
namespace {

std::unexpected<Error> refused(std::string_view target, const std::string& why) {
    return std::unexpected(
        Error{ErrorKind::Unsupported, "the operator " + std::string(target) + " " + why, {}, {}});
}

/// "aten.add.Tensor" as "aten::add", "Tensor"; nullopt if it has not three parts.
std::optional<c10::OperatorName> operatorName(std::string_view target) {
    const std::size_t first = target.find('.');
    const std::size_t last = target.rfind('.');
    if (first == std::string_view::npos || first == last)
        return std::nullopt;
    const auto overload = target.substr(last + 1);
    return c10::OperatorName(std::string(target.substr(0, first)) +
                                 "::" + std::string(target.substr(first + 1, last - first - 1)),
                             overload == "default" ? "" : std::string(overload));
}

bool hasAllParameters(const c10::FunctionSchema& has, const c10::FunctionSchema& wants) {
    return std::ranges::all_of(wants.arguments(), [&](const c10::Argument& parameter) {
        return has.argumentIndexWithName(parameter.name()).has_value();
    });
}

bool changesAnArgument(const c10::FunctionSchema& schema) {
    return std::ranges::any_of(schema.arguments(), [](const c10::Argument& parameter) {
        return parameter.alias_info() != nullptr && parameter.alias_info()->isWrite();
    });
}

} // namespace

Result<TorchOperator> torchOperator(std::string_view target) {
    if (target.starts_with("higher_order."))
        return refused(target, "runs a subgraph, which is not supported");
    const auto name = operatorName(target);
    if (!name)
        return refused(target, "is no operator of ATen");
    const auto handle = c10::Dispatcher::singleton().findSchema(*name);
    const auto known = std::ranges::find(decompositions(), target, &Decomposition::target);
    if (known != decompositions().end()) {
        const auto schema = std::make_shared<const c10::FunctionSchema>(
            torch::jit::parseSchema(std::string(known->schema)));
        if (!handle || !hasAllParameters(handle->schema(), *schema))
            return TorchOperator{schema, known->call, true};
    }
    if (!handle)
        return refused(target, "is unknown to LibTorch " + torchVersion());
    if (changesAnArgument(handle->schema()))
        return refused(target, "changes an argument in place: export the program with "
                               "run_decompositions()");
    return TorchOperator{std::make_shared<const c10::FunctionSchema>(handle->schema()),
                         [handle = *handle](torch::jit::Stack& stack) { handle.callBoxed(stack); },
                         false};
}

} // namespace kernelskill::engine::graph
