/// Probes of other scalars and other contents of buffers.
#include "analysis/model/scalar_kinds.h"
#include "engine/inputs/class_numbers.h"
#include "engine/inputs/launch_pair.h"
#include "engine/inputs/probe_planner.h"
#include "engine/inputs/scalar_values.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace kernelskill::engine {
namespace {

/// The max number of the edit's constants that loops count up to.
constexpr std::size_t maxLongLoops = 2;
/// Fewer probes show too few values.
constexpr std::size_t minProbes = 14;

bool writesFloats(const LaunchSpec& launch) {
    return std::ranges::any_of(launch.arguments, [](const ArgumentSpec& argument) {
        const auto* buffer = std::get_if<BufferSpec>(&argument);
        return buffer != nullptr && buffer->isOutput && isFloatingScalar(buffer->element);
    });
}

} // namespace

/// Integers that the program passes may mean anything; where the original runs cleanly with
/// another value, the candidate must agree.
void ProbePlanner::addScalars() {
    if (isLarge())
        return;
    // Launches of other shapes leave other parts of too much work undone.
    OtherScalars others = otherScalars(base_.original, statedOriginal_, original_, candidate_,
                                       sizes_.extents(), hasBlocksOfOwnWork() && hasSameShape(),
                                       largestEdited(dictionary_, maxLongLoops));
    bool isPlain = false;
    for (LaunchSpec& launch : others.launches) {
        isPlain = !isPlain;
        if (isPlain) // A term more or less shows among others of its magnitude.
            add(std::move(launch), base_.candidate, InputStyle::Plain);
        else
            add(std::move(launch), base_.candidate);
    }
    for (const std::string& name : others.names)
        if (!base_.candidate.madeFor.contains(name))
            plan_.varied.push_back("'" + name + "'");
}

/// The text may not tell what the program passes, and the integers that stand for it may not lead
/// to all of the code: `if (step == steps - 1)` for a guess of one step.
void ProbePlanner::addPassed(const std::map<std::string, std::int64_t>& passed) {
    if (isLarge())
        return;
    const auto launch =
        withSmallIntegers(base_.original, original_.kernel, passed, sizes_.extents());
    if (!launch)
        return;
    add(*launch, base_.candidate, InputStyle::Plain);
    add(*launch, base_.candidate);
    plan_.varied.emplace_back("the program's own integers");
}

void ProbePlanner::addClassNumbers() {
    if (isLarge())
        return;
    const std::vector<LaunchSpec> others = otherClassNumbers(original_, base_.original);
    for (const LaunchSpec& launch : others)
        add(launch, base_.candidate, InputStyle::Plain);
    if (!others.empty())
        plan_.varied.emplace_back("integers of classes");
}

/// Where data decides which elements are updated atomically, threads have to meet at some.
void ProbePlanner::addCollisions() {
    if (original_.kernel.atomics.empty() || isLarge())
        return;
    add(base_.original, base_.candidate, InputStyle::Collisions);
    plan_.varied.emplace_back("indices that collide");
}

/// Adds several probes with large values, since a NaN hides the rest of a sum.
void ProbePlanner::addLargeValues() {
    if (bounds_.numerics == skills::Numerics::Exact || isLarge())
        return;
    add(base_.original, base_.candidate, InputStyle::Close);
    plan_.varied.emplace_back("values close to each other");
    if (bounds_.numerics != skills::Numerics::Reassociates)
        return;
    constexpr int probes = 3; // The last has negative values alone.
    for (int probe = 0; probe < probes; ++probe) {
        add(base_.original, base_.candidate, InputStyle::Large);
        plan_.probes.back().onlyFiniteness = true;
    }
    plan_.varied.emplace_back("values whose exponentials overflow");
    add(base_.original, base_.candidate, InputStyle::Wide);
    plan_.varied.emplace_back("values of some tens");
}

void ProbePlanner::addTinyValues() {
    if (!writesFloats(base_.original) || isLarge())
        return;
    // A few lost results of one probe alone may be chance. Of an exact edit no digit is lost.
    const bool isExact = bounds_.numerics == skills::Numerics::Exact;
    const std::size_t probes = usualTinyTurns + (isExact ? 0 : dictionary_.vanishing.size());
    for (std::size_t probe = 0; probe < probes; ++probe)
        add(base_.original, base_.candidate, InputStyle::Tiny);
    plan_.varied.emplace_back("values near zero");
    if (probes > usualTinyTurns)
        plan_.varied.emplace_back("values that vanish beside the constants of the edit");
}

/// Where little else varies, the values have to do it alone.
void ProbePlanner::addValues() {
    if (isLarge())
        return;
    while (plan_.probes.size() < minProbes)
        add(base_.original, base_.candidate);
}

} // namespace kernelskill::engine
