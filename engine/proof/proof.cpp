#include "engine/proof/proof.h"

#include "engine/proof/environment.h"
#include "engine/proof/launch_equality.h"
#include "engine/proof/thread_run.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// What one attempt takes for granted of launches, and how it runs the kernels.
struct Attempt {
    LaunchAssumptions launches;
    RunRules rules;
};

/// From what takes least for granted to what takes most.
std::vector<Attempt> attemptsAt(KernelRef original, KernelRef candidate) {
    RunRules plain;
    const auto& before = original.kernel.parameters;
    const auto& after = candidate.kernel.parameters;
    const auto isReadOnly = [](const Parameter& parameter) {
        return parameter.type.pointerDepth == 1 && parameter.type.pointeeConst &&
               parameter.type.isRestrict;
    };
    for (std::size_t i = 0; i < before.size(); ++i)
        if (isReadOnly(before[i]) && isReadOnly(after[i]))
            plain.readOnly.insert(i);
    const auto with = [&](bool RunRules::* rule) {
        RunRules rules = plain;
        rules.*rule = true;
        return rules;
    };
    return {{{}, plain},
            {{}, with(&RunRules::unrolls)},
            {{}, with(&RunRules::coversElements)},
            {{.fewThreads = true}, with(&RunRules::coversElements)},
            {{}, with(&RunRules::subscriptsInBounds)}};
}

std::string lines(std::string_view what, std::uint32_t line) {
    return fmt::format("{} on line {}", what, line);
}

/// True if whenever the literals of `under` hold, those of `wanted` do.
bool implies(const Facts& under, const Facts& wanted) {
    return std::ranges::all_of(
        wanted, [&](Term literal) { return std::ranges::find(under, literal) != under.end(); });
}

/// The first thing that the candidate does otherwise; nullopt if it does the same.
std::optional<std::string> difference(const ThreadTrace& before, const ThreadTrace& after) {
    if (before.effects != after.effects) {
        std::size_t at = 0;
        while (at < before.log.size() && at < after.log.size() &&
               before.log[at].upTo == after.log[at].upTo)
            ++at;
        if (at < after.log.size())
            return lines(after.log[at].what + " may differ", after.log[at].line);
        return "the edit leaves out what the original does last";
    }
    for (const auto& [place, ways] : after.reads) {
        const auto known = before.reads.find(place);
        for (const Facts& way : ways)
            if (known == before.reads.end() ||
                std::ranges::none_of(known->second,
                                     [&](const Facts& facts) { return implies(way, facts); }))
                return lines("a read that the original may not make", after.lines.at(place));
    }
    for (const Term sum : after.mayOverflow)
        if (!before.mayOverflow.contains(sum))
            return lines("arithmetic that may overflow where the original's does not",
                         after.lines.at(sum));
    for (const Term divisor : after.divisors)
        if (!before.divisors.contains(divisor))
            return lines("a divisor that may be zero", after.lines.at(divisor));
    return std::nullopt;
}

/// An array in which the candidate has less room than the original; nullopt if there is none.
std::optional<std::string> smallerArray(const FunctionBody& before, const FunctionBody& after) {
    const auto isSame = [](const Variable& variable, const Variable& other) {
        return variable.name == other.name && variable.storage == other.storage;
    };
    for (const Variable& array : before.variables) {
        if (array.type.arrayExtents.empty() || array.storage >= Storage::DeviceGlobal)
            continue;
        // All of one name: which of them is which does not matter then.
        for (const Variable& other : after.variables) {
            if (!isSame(array, other) || array.type.canonical == other.type.canonical)
                continue;
            const auto& extents = array.type.arrayExtents;
            const auto& others = other.type.arrayExtents;
            bool fits = extents.size() == others.size() && array.type.size != 0 &&
                        other.type.size != 0 && array.type.elementSize == other.type.elementSize;
            for (std::size_t i = 0; fits && i < extents.size(); ++i)
                fits = extents[i] > 0 && others[i] >= extents[i];
            if (!fits)
                return fmt::format("{} may have less room than before", array.name);
        }
    }
    return std::nullopt;
}

Proof attemptProof(KernelRef original, KernelRef candidate, const Attempt& attempt) {
    TermTable terms(attempt.launches);
    LoopRecords records;
    const auto before = ThreadRun(terms, original, attempt.rules, records, true).run();
    if (!before)
        return std::unexpected(Unproved{fmt::format("the original has {}", before.error())});
    const bool isNarrow = terms.usedFewThreads();
    const auto after = ThreadRun(terms, candidate, attempt.rules, records, false).run();
    if (!after)
        return std::unexpected(Unproved{after.error()});
    if (auto reason = difference(*before, *after))
        return std::unexpected(Unproved{std::move(*reason)});
    if (auto reason = smallerArray(original.kernel.body, candidate.kernel.body))
        return std::unexpected(Unproved{std::move(*reason)});
    // Only the original's own limit may be taken for granted.
    if (terms.usedFewThreads() && !isNarrow)
        return std::unexpected(Unproved{"the number of a thread is kept in fewer bits"});
    Proved proved;
    proved.conditions.assign(after->conditions.begin(), after->conditions.end());
    for (const auto& [parameter, condition] : after->covered)
        if (!launchesCover(candidate, parameter))
            proved.conditions.push_back(condition);
    for (const std::string& condition : before->conditions)
        if (!after->conditions.contains(condition))
            proved.conditions.push_back(condition);
    if (terms.usedFewThreads())
        proved.conditions.emplace_back("there are fewer than 2^31 threads");
    if (attempt.rules.overReals)
        proved.equality = Equality::Reals;
    return proved;
}

/// What the kernel's text names in another configuration of the compiler is not seen.
bool readsArchitecture(KernelRef kernel) {
    return kernel.file().source->text().contains("__CUDA_ARCH__") ||
           kernel.file().userFiles.size() > 1;
}

} // namespace

std::string Proved::sentence() const {
    std::string text = equality == Equality::Reals
                           ? "proved for all inputs and sizes, as real numbers"
                           : "proved for all inputs and sizes";
    for (std::size_t i = 0; i < conditions.size(); ++i)
        text += (i == 0 ? ", if " : " and ") + conditions[i];
    return text;
}

Proof prove(KernelRef original, KernelRef candidate, skills::Numerics) {
    const auto surroundings = compareSurroundings(original, candidate);
    if (!surroundings)
        return std::unexpected(surroundings.error());
    if (auto heads = compareHeads(original, candidate); !heads)
        return std::unexpected(heads.error());
    std::vector<std::string> conditions = conditionsOfHead(original, candidate);
    const bool isSame = haveSameBody(original, candidate);
    if (surroundings->changesLaunches) {
        if (!isSame)
            return std::unexpected(Unproved{"both the kernel and its launch are changed"});
        const auto launches = proveLaunches(original, candidate);
        if (!launches)
            return std::unexpected(launches.error());
        conditions.insert(conditions.end(), launches->begin(), launches->end());
    }
    Proved proved;
    if (isSame) {
        if (auto overloads = requireSameOverloads(original, candidate); !overloads)
            return std::unexpected(overloads.error());
    } else {
        if (readsArchitecture(original))
            return std::unexpected(
                Unproved{"what the kernel means may depend on the architecture"});
        std::optional<Unproved> first;
        std::optional<Proved> found;
        for (const Attempt& attempt : attemptsAt(original, candidate)) {
            if (auto proof = attemptProof(original, candidate, attempt)) {
                found = std::move(*proof);
                break;
            } else if (!first) {
                first = std::move(proof).error();
            }
        }
        if (!found)
            return std::unexpected(std::move(*first));
        proved = std::move(*found);
    }
    proved.conditions.insert(proved.conditions.end(), conditions.begin(), conditions.end());
    return proved;
}

} // namespace kernelskill::engine
