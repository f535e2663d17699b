#include "engine/proof/race_freedom.h"

#include "analysis/nest/dependences.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <variant>

namespace kernelskill::engine {
namespace {

using analysis::NestCarrier;
using analysis::NestCertainty;
using analysis::NestDependence;

std::array<std::uint32_t, 3> extentsOf(const Dim3& size) {
    return {size.x, size.y, size.z};
}

/// The first axis along which `size` is above 1 and the kernel uses no index; nullptr: none.
const char* untoldAxis(const Dim3& size, const std::array<bool, 3>& tells) {
    constexpr std::array names{"x", "y", "z"};
    const auto extents = extentsOf(size);
    for (std::size_t axis = 0; axis < names.size(); ++axis)
        if (extents.at(axis) > 1 && !tells.at(axis))
            return names.at(axis);
    return nullptr;
}

/// Whether a function of the file names an object of an outer launches by this name: the nest takes
/// it for the parameter.
bool isNameOfObject(const std::string& name, const analysis::FileModel& file) {
    const auto names = [&](const analysis::KernelModel& function) {
        return std::ranges::any_of(
            function.body.variables, [&](const analysis::Variable& variable) {
                return variable.storage >= analysis::Storage::DeviceGlobal && variable.name == name;
            });
    };
    return std::ranges::any_of(file.kernels, names) ||
           std::ranges::any_of(file.deviceFunctions, names);
}

/// The numbers of the nest that the launch tells.
std::map<analysis::Symbol, std::int64_t> valuesIn(const LaunchSpec& launch, KernelRef kernel,
                                                  const analysis::Nest& nest) {
    std::map<analysis::Symbol, std::int64_t> values;
    const auto block = extentsOf(launch.block);
    const auto grid = extentsOf(launch.grid);
    for (std::uint32_t axis = 0; axis < 3; ++axis) {
        values[{analysis::SymbolKind::BlockDim, axis}] = block.at(axis);
        values[{analysis::SymbolKind::GridDim, axis}] = grid.at(axis);
    }
    const auto& parameters = kernel.kernel.parameters;
    for (std::size_t i = 0; i < parameters.size() && i < launch.arguments.size(); ++i) {
        const auto* scalar = std::get_if<ScalarSpec>(&launch.arguments[i]);
        if (scalar == nullptr || !scalar->integer ||
            isNameOfObject(parameters[i].name, kernel.file()))
            continue;
        const auto& symbols = nest.symbols.all();
        for (std::uint32_t id = 0; id < symbols.size(); ++id)
            if (symbols[id].kind == analysis::NestSymbolKind::Parameter &&
                symbols[id].name == parameters[i].name)
                values[{analysis::SymbolKind::Named, id}] = *scalar->integer;
    }
    return values;
}

bool isBetweenThreads(const NestDependence& dependence) {
    return dependence.carrier.level == NestCarrier::Level::Blocks ||
           (dependence.carrier.level == NestCarrier::Level::Threads && !dependence.isSynchronised);
}

} // namespace

std::string RaceFreedom::sentence() const {
    std::string text = launches == ProvedLaunches::ThisLaunch
                           ? "shown for all inputs of this launch"
                           : "shown for all inputs and sizes";
    for (std::size_t i = 0; i < conditions.size(); ++i)
        text += (i == 0 ? ", if " : " and ") + conditions[i];
    return text;
}

std::expected<RaceFreedom, Unproved> proveNoRace(KernelRef kernel, const LaunchSpec& launch,
                                                 const std::stop_token& stop,
                                                 ProvedLaunches launches) {
    if (stop.stop_requested())
        return unproved(stoppedProof);
    const auto nest = analysis::nestOf(kernel.file(), kernel.kernel);
    for (const analysis::NestNode& node : nest->nodes) {
        const analysis::NestStatement* statement = node.computation();
        if (statement != nullptr && !statement->opaque.empty())
            return unproved("a statement is opaque: " + statement->opaque);
    }
    analysis::Polyhedra polyhedra;
    const analysis::NestDependences found = analysis::dependencesOf(
        *nest, polyhedra, stop,
        launches == ProvedLaunches::ThisLaunch ? valuesIn(launch, kernel, *nest)
                                               : std::map<analysis::Symbol, std::int64_t>{});
    if (stop.stop_requested())
        return unproved(stoppedProof);
    if (!found.isComplete)
        return unproved("the kernel has too many accesses to compare");
    if (const char* axis = untoldAxis(launch.block, found.tellsThreads))
        return unproved(fmt::format("nothing tells the threads of a block apart along {}", axis));
    if (const char* axis = untoldAxis(launch.grid, found.tellsBlocks))
        return unproved(fmt::format("nothing tells blocks apart along {}", axis));
    RaceFreedom free;
    free.launches = launches;
    const auto assume = [&](const std::string& condition) {
        if (std::ranges::find(free.conditions, condition) == free.conditions.end())
            free.conditions.push_back(condition);
    };
    for (const NestDependence& dependence : found.dependences) {
        if (!isBetweenThreads(dependence))
            continue;
        if (dependence.independence == NestCertainty::Broken)
            return unproved(analysis::dependenceText(*nest, dependence));
        for (const std::string& condition : dependence.conditions) {
            assume(condition);
            free.needsOnlyDistinctArrays = false;
        }
    }
    for (const analysis::NestOverlap& overlap : found.overlaps)
        assume(fmt::format("{}, {} do not overlap", nest->arrays[overlap.first].name,
                           nest->arrays[overlap.second].name));
    return free;
}

} // namespace kernelskill::engine
