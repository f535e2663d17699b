#include "engine/graph/choice/model_variant.h"

#include "engine/graph/lowering/raised.h"

#include <algorithm>
#include <array>
#include <variant>

namespace kernelskill::engine::graph {
namespace {

/// These are rough rates of a GPU.
constexpr double bytesPerSecond = 3e12;
constexpr double operationsPerSecond = 1e14;

} // namespace

bool isProduct(const Node& node) {
    return operatorKind(node.target) == OperatorKind::LinearAlgebra &&
           !node.target.contains("conv");
}

std::set<std::string> productsOf(const Program& program) {
    std::set<std::string> products;
    for (const Node& node : program.nodes)
        if (isProduct(node))
            products.insert(node.name);
    return products;
}

Exactness exactnessOf(MultiplyUnit unit, const ModelPlan& plan) {
    const bool usesTensorCores = std::ranges::any_of(plan.steps, [](const ModelStep& step) {
        const auto* kernel = std::get_if<Kernel>(&step.work);
        return kernel != nullptr && kernel->usesTensorCores;
    });
    if (!usesTensorCores)
        return Exactness::Float32;
    switch (unit) {
    case MultiplyUnit::TF32:
        return Exactness::TF32;
    case MultiplyUnit::BFloat16Split:
        return Exactness::SplitBFloat16;
    case MultiplyUnit::TF32Split:
    case MultiplyUnit::Float32:
        break;
    }
    return Exactness::SplitTF32;
}

std::vector<MultiplyUnit> moreExactUnits(MultiplyUnit than) {
    constexpr std::array all = {MultiplyUnit::Float32, MultiplyUnit::TF32Split,
                                MultiplyUnit::BFloat16Split, MultiplyUnit::TF32};
    return {all.begin(), std::ranges::find(all, than)};
}

double secondsOf(const ModelPlan& plan) {
    double seconds = 0;
    for (const ModelStep& step : plan.steps)
        if (const auto* kernel = std::get_if<Kernel>(&step.work);
            kernel != nullptr && !step.dependsOnWeightsAlone)
            seconds +=
                std::max(kernel->bytes / bytesPerSecond, kernel->operations / operationsPerSecond);
    return seconds;
}

std::string scheduleOf(const ModelPlan& plan) {
    const Kernel* largest = nullptr;
    for (const ModelStep& step : plan.steps)
        if (const auto* kernel = std::get_if<Kernel>(&step.work);
            kernel != nullptr && !step.dependsOnWeightsAlone &&
            (largest == nullptr || kernel->operations > largest->operations))
            largest = kernel;
    return largest != nullptr ? largest->schedule : std::string();
}

} // namespace kernelskill::engine::graph
