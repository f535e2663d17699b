#include "engine/inputs/scalar_values.h"

#include "engine/inputs/launch_pair.h"
#include "engine/inputs/scalar_use.h"
#include "engine/inputs/searched_lengths.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

namespace kernelskill::engine {
namespace {

/// Launches with one other integer each.
constexpr std::size_t maxSingles = 6;
/// More for parameters that loops count up to.
constexpr std::size_t maxSinglesWithLoops = 8;
/// Launches with an integer that the texts compare it with.
constexpr std::size_t maxCompared = 6;
/// The largest integer that withSmallIntegers() passes on.
constexpr std::int64_t maxSmall = 256;
/// Grids of fewer blocks agree with other numbers by chance.
constexpr std::int64_t minToldBlocks = 8;

/// An integer argument that may take other values.
struct Variable {
    std::size_t argument = 0; ///< Its index.
    std::int64_t value = 0;
    bool isFlag = false; ///< A bool, or as small.
    ScalarUse use;
    std::vector<std::int64_t> others; ///< Best first.
};

/// Whether the kernel may take the number for a size of its grid or block.
bool isSizeOf(const LaunchSpec& launch, std::int64_t number) {
    const auto isAmong = [&](const Dim3& size) {
        return std::ranges::any_of(std::array{size.x, size.y, size.z},
                                   [&](std::uint32_t extent) { return extent == number; });
    };
    return number > 1 &&
           (isAmong(launch.block) || (number >= minToldBlocks && isAmong(launch.grid)));
}

/// Whether the argument is such a number in every one of these launches of a kernel.
bool isToldSize(const std::vector<const LaunchSpec*>& launches, std::size_t argument) {
    return std::ranges::all_of(launches, [&](const LaunchSpec* launch) {
        const auto* scalar = std::get_if<ScalarSpec>(&launch->arguments.at(argument));
        return scalar != nullptr && scalar->integer && isSizeOf(*launch, *scalar->integer);
    });
}

/// Whether a thread has an array of its own, past whose end longer loops would write unseen.
bool hasOwnArray(const analysis::KernelModel& kernel) {
    return std::ranges::any_of(kernel.body.variables, [](const analysis::Variable& variable) {
        return variable.storage == analysis::Storage::Local && !variable.type.arrayExtents.empty();
    });
}

ScalarUse bothUses(const ScalarUse& one, const ScalarUse& other) {
    ScalarUse both{one.boundsGrid || other.boundsGrid,
                   one.boundsBlock || other.boundsBlock,
                   one.isGuard,
                   one.boundsLoop,
                   one.limitsLoop,
                   one.compared};
    both.compared.insert(other.compared.begin(), other.compared.end());
    return both;
}

/// For a launch that may touch more elements than the program allocates: they are found anew.
void freeExtents(LaunchSpec& launch) {
    for (ArgumentSpec& argument : launch.arguments) {
        auto* buffer = std::get_if<BufferSpec>(&argument);
        if (buffer != nullptr && !buffer->captured && buffer->sameAs.empty())
            buffer->elements.reset();
    }
}

/// Gives the buffers that a search walks at least as many elements as the launch's limit of the
/// search: a run that finds something early does not show how many it may read.
void lengthenSearched(LaunchSpec& launch, const analysis::KernelModel& kernel) {
    const auto valueOf = [&](std::size_t parameter) -> std::optional<std::int64_t> {
        const auto* scalar = parameter < launch.arguments.size()
                                 ? std::get_if<ScalarSpec>(&launch.arguments[parameter])
                                 : nullptr;
        return scalar == nullptr ? std::nullopt : scalar->integer;
    };
    const auto lengths = searchedLengths(kernel, valueOf);
    for (std::size_t i = 0; i < std::min(lengths.size(), launch.arguments.size()); ++i)
        if (auto* buffer = std::get_if<BufferSpec>(&launch.arguments[i]))
            buffer->minElements = std::max(buffer->minElements, lengths[i]);
}

std::vector<std::int64_t> otherValues(const Variable& variable, bool canGrow, bool isExtent,
                                      std::size_t turn) {
    const std::int64_t value = variable.value;
    std::vector<std::int64_t> others;
    if (variable.isFlag) {
        others = {value == 0 ? 1 : 0};
    } else if (canGrow && variable.use.boundsLoop && !isExtent) {
        others = {3, 1026, value - 1, 6, value / 2};
    } else if (canGrow) {
        others = {value + 1, value - 1, -value - 2, 2 * value + 3, value / 2};
    } else {
        // Small ones with a remainder of 4: more than half of a vector, and exactly half.
        others = {value - 1, 3, 6, value / 2};
        std::erase_if(others, [&](std::int64_t other) { return other > value; });
        std::ranges::rotate(others,
                            others.begin() + static_cast<std::ptrdiff_t>(turn % others.size()));
    }
    const bool canBeNegative = canGrow && !variable.use.boundsLoop && !isExtent;
    std::erase_if(others, [&](std::int64_t other) {
        return (other < 0 && !canBeNegative) || other == value;
    });
    return others;
}

std::vector<Variable> variablesOf(const LaunchSpec& launch, const LaunchSpec& stated,
                                  KernelInFile original, KernelInFile candidate,
                                  const std::map<std::string, std::int64_t>& extents) {
    auto uses = scalarUses(original.kernel);
    auto candidateUses = scalarUses(candidate.kernel);
    const bool fitsMore = !hasOwnArray(original.kernel) && !hasOwnArray(candidate.kernel);
    std::vector<Variable> variables;
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
        const auto* scalar = std::get_if<ScalarSpec>(&launch.arguments[i]);
        if (scalar == nullptr || !scalar->integer || scalar->bytes.size() > sizeof(std::int64_t))
            continue;
        Variable variable{i,
                          *scalar->integer,
                          scalar->bytes.size() == 1,
                          bothUses(uses[scalar->name], candidateUses[scalar->name]),
                          {}};
        if (!variable.use.isGuard && isToldSize({&launch, &stated}, i))
            continue;
        variable.others = otherValues(variable, fitsMore && variable.use.canGrow(),
                                      extents.contains(scalar->name), variables.size());
        variables.push_back(std::move(variable));
    }
    return variables;
}

class ScalarPlanner {
public:
    ScalarPlanner(const LaunchSpec& launch, std::vector<Variable> variables)
        : launch_(launch), variables_(std::move(variables)) {}

    OtherScalars plan(bool ownWork, const std::vector<std::int64_t>& longLoops) {
        addSingles();
        addCompared();
        addAllLess();
        addGroups();
        if (ownWork) {
            addMore();
            addLong(longLoops);
        }
        return std::move(plan_);
    }

private:
    void set(LaunchSpec& launch, const Variable& variable, std::int64_t value) {
        auto& scalar = std::get<ScalarSpec>(launch.arguments[variable.argument]);
        setInteger(scalar, value);
        plan_.names.insert(scalar.name);
    }

    void addSingles() {
        const bool hasLoops = std::ranges::any_of(variables_, [](const Variable& variable) {
            return variable.use.boundsLoop && variable.use.canGrow();
        });
        const std::size_t most = hasLoops ? maxSinglesWithLoops : maxSingles;
        constexpr std::size_t rounds = 5;
        for (std::size_t round = 0; round < rounds; ++round) {
            for (const Variable& variable : variables_) {
                if (round >= variable.others.size() || plan_.launches.size() == most)
                    continue;
                LaunchSpec changed = launch_;
                set(changed, variable, variable.others[round]);
                if (variable.use.boundsLoop && variable.others[round] > variable.value)
                    freeExtents(changed);
                plan_.launches.push_back(std::move(changed));
            }
        }
    }

    /// The constants that a condition or a `switch` knows the parameter by. Few of them come
    /// several times, with other data.
    void addCompared() {
        std::vector<LaunchSpec> known;
        for (const Variable& variable : variables_) {
            for (const std::int64_t constant : variable.use.compared) {
                const bool fits = variable.use.canGrow() || constant < variable.value;
                if (!fits || constant == variable.value || known.size() == maxCompared)
                    continue;
                known.push_back(launch_);
                set(known.back(), variable, constant);
            }
        }
        for (std::size_t added = 0; !known.empty() && added + known.size() <= maxCompared;
             added += known.size())
            plan_.launches.insert(plan_.launches.end(), known.begin(), known.end());
    }

    /// A product of them gets remainders that one alone leaves.
    void addAllLess() {
        if (variables_.size() < 2)
            return;
        LaunchSpec less = launch_;
        for (const Variable& variable : variables_) {
            if (variable.value > 0 && !variable.isFlag)
                set(less, variable, variable.value - 1);
        }
        plan_.launches.push_back(std::move(less));
    }

    /// Where there are too many for a launch each, those whose number has a certain bit change
    /// together, then those whose number has not: no two always change together.
    void addGroups() {
        if (variables_.size() <= maxSingles)
            return;
        for (unsigned bit = 0; bit < std::bit_width(variables_.size() - 1); ++bit) {
            for (const bool isSet : {true, false}) {
                LaunchSpec changed = launch_;
                for (std::size_t i = 0; i < variables_.size(); ++i) {
                    const auto& others = variables_[i].others;
                    if (((i >> bit & 1u) != 0) == isSet && !others.empty())
                        set(changed, variables_[i], others[(bit + 1) % others.size()]);
                }
                plan_.launches.push_back(std::move(changed));
            }
        }
    }

    void addMore() {
        for (const Variable& variable : variables_) {
            if (variable.use.canGrow() || variable.isFlag)
                continue;
            LaunchSpec more = launch_;
            set(more, variable, variable.value * 4 + 1);
            plan_.launches.push_back(std::move(more));
        }
    }

    void addLong(const std::vector<std::int64_t>& longLoops) {
        for (const Variable& variable : variables_) {
            if (!variable.use.boundsLoop || variable.use.boundsGrid || variable.isFlag)
                continue;
            for (const std::int64_t value : longLoops) {
                if (value <= variable.value)
                    continue;
                LaunchSpec changed = launch_;
                set(changed, variable, value);
                freeExtents(changed);
                plan_.launches.push_back(std::move(changed));
            }
        }
    }

    const LaunchSpec& launch_;
    std::vector<Variable> variables_;
    OtherScalars plan_;
};

} // namespace

OtherScalars otherScalars(const LaunchSpec& launch, const LaunchSpec& stated, KernelInFile original,
                          KernelInFile candidate,
                          const std::map<std::string, std::int64_t>& extents, bool ownWork,
                          const std::vector<std::int64_t>& longLoops) {
    OtherScalars others =
        ScalarPlanner(launch, variablesOf(launch, stated, original, candidate, extents))
            .plan(ownWork, longLoops);
    for (LaunchSpec& other : others.launches)
        lengthenSearched(other, original.kernel);
    return others;
}

std::optional<LaunchSpec> withSmallIntegers(const LaunchSpec& launch,
                                            const analysis::KernelModel& kernel,
                                            const std::map<std::string, std::int64_t>& values,
                                            const std::map<std::string, std::int64_t>& extents) {
    LaunchSpec changed = launch;
    bool isChanged = false;
    for (ArgumentSpec& argument : changed.arguments) {
        auto* scalar = std::get_if<ScalarSpec>(&argument);
        if (scalar == nullptr || !scalar->integer || extents.contains(scalar->name))
            continue;
        const auto found = values.find(scalar->name);
        if (found == values.end() || found->second == *scalar->integer ||
            found->second < -maxSmall || found->second > maxSmall)
            continue;
        setInteger(*scalar, found->second);
        isChanged = true;
    }
    if (!isChanged)
        return std::nullopt;
    freeExtents(changed);
    lengthenSearched(changed, kernel);
    return changed;
}

} // namespace kernelskill::engine
