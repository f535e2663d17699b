#include "engine/agents/generate/reference_launch.h"

#include "engine/agents/generate/written_function.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// Memory accesses of one run: a second or so for one thread of the emulator.
constexpr double mostAccesses = 3e6;
/// Threads of a launch that is run as it stands, not in part.
constexpr double mostThreads = 1 << 17;
/// Rounds of a loop whose bounds depend on data.
constexpr double unknownRounds = 16;
/// Tried in this order; from 64 on a review varies a size by itself.
constexpr auto sizes =
    std::to_array<std::int64_t>({20000, 4000, 1000, 500, 250, 150, 100, 72, 40, 20, 10, 5, 3});
/// Of parameters that are no bound of a mapped loop, e.g. the radius of a stencil.
constexpr std::int64_t smallSize = 3;

using Values = std::map<Symbol, std::int64_t>;

class SizeFinder {
public:
    SizeFinder(const SourceText& source, const KernelModel& function, const ParallelNest& nest)
        : function_(function), nest_(nest), code_(function.body),
          dependence_(source, function, code_) {
        for (const MappedLoop& mapped : nest.loops)
            for (const auto& [monomial, coefficient] : mapped.distance.terms())
                if (coefficient > 0)
                    mappedSizes_.insert(monomial.begin(), monomial.end());
    }

    [[nodiscard]] std::optional<Values> find() const {
        for (const std::int64_t size : sizes) {
            for (const bool allAlike : {true, false}) {
                Values values = valuesFor(size, allAlike);
                if (fits(values))
                    return values;
            }
        }
        return std::nullopt;
    }

private:
    /// No two alike: rows taken for columns must be seen.
    [[nodiscard]] Values valuesFor(std::int64_t size, bool allAlike) const {
        Values values;
        std::int64_t number = 0;
        for (const Parameter& parameter : function_.parameters) {
            const Symbol symbol{SymbolKind::Parameter, parameter.variable};
            const bool isLarge = allAlike || mappedSizes_.contains(symbol);
            values[symbol] = isLarge ? size + 3 * number : smallSize;
            ++number;
        }
        for (const auto& [symbol, stepped] : nest_.rounds)
            values[symbol] = roundsIn(stepped.distance.evaluate(values).value_or(0), stepped.step);
        return values;
    }

    [[nodiscard]] bool fits(const Values& values) const {
        const IterationSpace every = dependence_.everyLoop();
        std::vector<double> rounds(function_.loops.size(), unknownRounds);
        for (std::uint32_t number = 0; number < rounds.size(); ++number) {
            const auto range = dependence_.range(number);
            const auto most = range ? every.largest(range->last - range->first) : std::nullopt;
            const auto value = most ? most->evaluate(values) : std::nullopt;
            if (value && *value < 0)
                return false;
            if (value)
                rounds[number] = static_cast<double>(*value / range->step + 1);
        }
        double accesses = 0;
        for (const MemoryAccess& access : function_.accesses) {
            double times = 1;
            for (const std::uint32_t loop : access.loops)
                times *= rounds[loop];
            accesses += times;
        }
        double threads = 1;
        for (const MappedLoop& mapped : nest_.loops)
            threads *= static_cast<double>(
                           roundsIn(mapped.distance.evaluate(values).value_or(0), mapped.step)) +
                       32;
        const bool hasElements = std::ranges::all_of(nest_.arrays, [&](const ArrayUse& use) {
            return use.elements.evaluate(values).value_or(0) > 0;
        });
        return hasElements && accesses <= mostAccesses && threads <= mostThreads;
    }

    const KernelModel& function_;
    const ParallelNest& nest_;
    skills::CodeMap code_;
    LoopDependence dependence_;
    std::set<Symbol> mappedSizes_;
};

} // namespace

std::expected<std::string, skills::Refusal> referenceLaunch(const SourceText& source,
                                                            const KernelModel& function,
                                                            const ParallelNest& nest,
                                                            const WrittenKernel& written) {
    const auto values = SizeFinder(source, function, nest).find();
    if (!values)
        return std::unexpected(skills::Refusal{
            "no-small-size",
            fmt::format("no sizes were found at which every loop of '{}' runs and one thread could "
                        "check the kernel",
                        function.name)});
    std::string arguments;
    for (std::uint32_t number = 0; number < function.parameters.size(); ++number) {
        const Parameter& parameter = function.parameters[number];
        const auto use = std::ranges::find(nest.arrays, number, &ArrayUse::parameter);
        std::string value;
        if (use != nest.arrays.end())
            value =
                fmt::format("rand[{}]", codeOf(use->elements, function.body, false, nest.rounds));
        else if (parameter.type.pointerDepth > 0)
            value = "rand[1]";
        else if (parameter.type.scalar == ScalarKind::Bool)
            value = "1";
        else if (parameter.type.scalar >= ScalarKind::Half)
            value = "1.5";
        else
            value = std::to_string(values->at({SymbolKind::Parameter, parameter.variable}));
        arguments += fmt::format("{}{}={}", number == 0 ? "" : ", ", parameter.name, value);
    }
    return fmt::format("// kernelskill: launch {}<<<{}, {}>>>({})", written.kernelName,
                       written.grid, written.block, arguments);
}

} // namespace kernelskill::engine
