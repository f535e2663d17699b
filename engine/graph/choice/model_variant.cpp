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

bool needsFloat32(const Node& node, Tolerance tolerance, bool allowsTf32) {
    if (tolerance == Tolerance::Loose || isProduct(node))
        return allowsTf32 && isProduct(node);
    // Recurrent layers use TF32 by default, as convolutions do.
    const OperatorKind kind = operatorKind(node.target);
    return kind == OperatorKind::LinearAlgebra || kind == OperatorKind::Other;
}

std::set<std::string> float32NodesOf(const Program& program, Tolerance tolerance, bool allowsTf32) {
    std::set<std::string> names;
    for (const Node& node : program.nodes)
        if (needsFloat32(node, tolerance, allowsTf32))
            names.insert(node.name);
    return names;
}

Exactness exactnessOf(const ContractionChoice& own, const ModelPlan& plan) {
    const bool usesTensorCores = std::ranges::any_of(plan.steps, [](const ModelStep& step) {
        const auto* kernel = std::get_if<Kernel>(&step.work);
        return kernel != nullptr && kernel->usesTensorCores;
    });
    if (!usesTensorCores)
        return Exactness::Float32;
    switch (own.multiply) {
    case MultiplyUnit::TF32:
        return Exactness::TF32;
    case MultiplyUnit::BFloat16Split:
        return own.sumsInSteps ? Exactness::SplitBFloat16InSteps : Exactness::SplitBFloat16;
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
