#include "engine/generate/reference_launch.h"

#include "analysis/queries/code_map.h"
#include "engine/generate/kernel_writer.h"
#include "engine/generate/written_function.h"

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

/// The maximum number of memory accesses of one run: about a second for one thread of the emulator.
constexpr double maxAccesses = 3e6;
/// The maximum number of threads of a launch that is run completely.
constexpr double maxThreads = 1 << 17;
/// The number of blocks that the emulator keeps alive at once for a grid barrier.
constexpr std::int64_t maxFoldingBlocks = 48;
/// The assumed iterations of a loop whose bounds depend on data.
constexpr double unknownRounds = 16;
/// Sizes to try, in this order. A review varies sizes from 64 on by itself.
constexpr auto sizes =
    std::to_array<std::int64_t>({20000, 4000, 1000, 500, 250, 150, 100, 72, 40, 20, 10, 5, 3});
/// The value of parameters that bound no mapped loop, e.g. the radius of a stencil.
constexpr std::int64_t smallSize = 3;

using Values = std::map<Symbol, std::int64_t>;

class SizeFinder {
public:
    SizeFinder(const SourceText& source, const KernelModel& function,
               const ParallelFunction& parallel, const ParallelNest& nest)
        : function_(function), parallel_(parallel), nest_(nest), code_(function.body),
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
    /// All values differ, so that swapped rows and columns are noticed.
    [[nodiscard]] Values valuesFor(std::int64_t size, bool allAlike) const {
        Values values;
        std::int64_t number = 0;
        for (const Parameter& parameter : function_.parameters) {
            const Symbol symbol{SymbolKind::Parameter, parameter.variable};
            const bool isLarge = allAlike || mappedSizes_.contains(symbol);
            values[symbol] = isLarge ? size + 3 * number : smallSize;
            ++number;
        }
        for (const auto& [symbol, stepped] : parallel_.rounds)
            values[symbol] = roundsIn(stepped.distance.evaluate(values).value_or(0), stepped.step);
        return values;
    }

    [[nodiscard]] bool fits(const Values& values) const {
        const IterationSpace every = dependence_.everyLoop();
        std::vector<double> rounds(function_.loops.size(), unknownRounds);
        for (std::uint32_t number = 0; number < rounds.size(); ++number) {
            if (!code_.encloses(nest_.statement, function_.loops[number].statement))
                continue;
            const auto range = dependence_.range(number);
            const auto most = range ? every.largest(range->last - range->first) : std::nullopt;
            const auto value = most ? most->evaluate(values) : std::nullopt;
            if (value && *value < 0)
                return false;
            if (value) {
                const std::int64_t count = *value / range->step + 1;
                rounds[number] = static_cast<double>(count);
            }
        }
        double accesses = 0;
        for (const MemoryAccess& access : function_.accesses) {
            if (!code_.holds(nest_.statement, access.expression))
                continue;
            double times = 1;
            for (const std::uint32_t loop : access.loops)
                times *= rounds[loop];
            accesses += times;
        }
        const bool hasElements = std::ranges::all_of(nest_.arrays, [&](const ArrayUse& use) {
            return use.elements.evaluate(values).value_or(0) > 0;
        });
        return hasElements && accesses <= maxAccesses &&
               (nest_.reductions.empty() ? threads(values) <= maxThreads
                                         : foldingBlocks(values) <= maxFoldingBlocks);
    }

    [[nodiscard]] std::int64_t foldingBlocks(const Values& values) const {
        return roundsIn(nest_.loops.front().distance.evaluate(values).value_or(0),
                        checkedReach(nest_));
    }

    [[nodiscard]] double threads(const Values& values) const {
        const auto rounds = [&](const MappedLoop& mapped) {
            return static_cast<double>(
                roundsIn(mapped.distance.evaluate(values).value_or(0), mapped.step));
        };
        double all = 1;
        for (const MappedLoop& mapped : nest_.loops)
            all *= rounds(mapped) + 32;
        return all;
    }

    const KernelModel& function_;
    const ParallelFunction& parallel_;
    const ParallelNest& nest_;
    analysis::CodeMap code_;
    LoopDependence dependence_;
    std::set<Symbol> mappedSizes_;
};

/// The start value of a fold that keeps extremes, chosen so that values decide; 1 for others.
std::string startOf(const Type& type, Fold fold) {
    const bool isFloating = type.scalar >= ScalarKind::Half;
    const bool isUnsigned = type.scalar == ScalarKind::UInt32 || type.scalar == ScalarKind::UInt64;
    switch (fold) {
    case Fold::Maximum:
        return isFloating ? "-1000.0" : isUnsigned ? "0" : "-2147483647";
    case Fold::Minimum:
        return isFloating ? "1000.0" : "2147483647";
    default:
        return isFloating ? "1.5" : "1";
    }
}

bool isInteger(const Type& type) {
    return type.scalar == ScalarKind::Int32 || type.scalar == ScalarKind::UInt32 ||
           type.scalar == ScalarKind::Int64 || type.scalar == ScalarKind::UInt64;
}

/// Whether small integers would have the same extremes for every seed.
bool needsWideIntegers(const KernelModel& function, const ParallelNest& nest) {
    return std::ranges::any_of(nest.reductions, [&](const Reduction& reduction) {
        return reduction.fold != Fold::Sum &&
               isInteger(function.body.variable(reduction.variable).type);
    });
}

std::string numberFor(const Type& type, std::int64_t size) {
    if (type.scalar == ScalarKind::Bool)
        return "1";
    return type.scalar >= ScalarKind::Half ? "1.5" : std::to_string(size);
}

} // namespace

std::int64_t checkedReach(const ParallelNest& nest) {
    constexpr std::int64_t roundsOfThread = 3;
    constexpr std::int64_t roundsOfBlock = 8;
    return nest.loops.front().step *
           (nest.loops.size() == 1 ? roundsOfThread * foldingThreads : roundsOfBlock);
}

std::expected<std::string, skills::Refusal> referenceLaunch(const SourceText& source,
                                                            const KernelModel& function,
                                                            const ParallelFunction& parallel,
                                                            const ParallelNest& nest,
                                                            const CheckedKernel& kernel) {
    const auto values = SizeFinder(source, function, parallel, nest).find();
    if (!values)
        return std::unexpected(skills::Refusal{
            "no-small-size",
            fmt::format("no sizes were found at which every loop of '{}' runs and one thread could "
                        "check the kernel",
                        function.name)});
    const bool areWide = needsWideIntegers(function, nest);
    std::string arguments;
    const auto append = [&](const std::string& name, const std::string& value) {
        arguments += fmt::format("{}{}={}", arguments.empty() ? "" : ", ", name, value);
    };
    for (const VariableId variable : kernel.inputs.variables) {
        const Variable& input = function.body.variable(variable);
        const auto size = values->find({SymbolKind::Parameter, variable});
        if (const ArrayUse* use = arrayOf(function, nest.arrays, variable))
            append(input.name,
                   fmt::format("rand[{}{}]",
                               codeOf(use->elements, function.body, false, parallel.rounds),
                               areWide && isInteger(input.type) ? ", 0..2000000000" : ""));
        else if (input.type.pointerDepth > 0)
            append(input.name, "rand[1]");
        else
            append(input.name,
                   numberFor(input.type, size == values->end() ? smallSize : size->second));
    }
    for (const Reduction& reduction : nest.reductions)
        if (!reduction.startsNeutral)
            append(function.body.variable(reduction.variable).name,
                   startOf(function.body.variable(reduction.variable).type, reduction.fold));
    for (const std::string& result : kernel.results)
        append(result, "rand[1]");
    return fmt::format("// kernelskill: launch {}<<<{}, {}>>>({})", kernel.name, kernel.grid,
                       kernel.block, arguments);
}

} // namespace kernelskill::engine
