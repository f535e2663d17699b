#include "engine/proof/proof.h"

#include "engine/proof/environment.h"
#include "engine/proof/equal_terms.h"
#include "engine/proof/integer_facts.h"
#include "engine/proof/integer_solver.h"
#include "engine/proof/launch_coverage.h"
#include "engine/proof/launch_equality.h"
#include "engine/proof/shared_work.h"
#include "engine/proof/thread_run.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// What one attempt takes for granted of launches, and how it runs the kernels.
struct Attempt {
    LaunchAssumptions launches;
    RunRules rules;
    /// Decides which integers are equal and whether they fit their types. nullptr: only integers
    /// with the same term are equal.
    IntegerSolver* solver = nullptr;
};

/// From what takes least for granted to what takes most.
std::vector<Attempt> attemptsAt(KernelRef original, KernelRef candidate, skills::Numerics numerics,
                                const std::stop_token& stop) {
    RunRules plain;
    plain.stop = stop;
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
    std::vector<Attempt> attempts{{{}, plain},
                                  {{}, with(&RunRules::unrolls)},
                                  {{}, with(&RunRules::coversElements)},
                                  {{.fewThreads = true}, with(&RunRules::coversElements)},
                                  {{}, with(&RunRules::subscriptsInBounds)}};
    if (numerics == skills::Numerics::Reassociates)
        attempts.push_back({{}, with(&RunRules::overReals)});
    return attempts;
}

/// The attempts that ask a solver, for kernels that compute with bits or quotients.
std::vector<Attempt> solverAttempts(const std::vector<Attempt>& plain, IntegerSolver& solver) {
    std::vector<Attempt> attempts;
    for (const Attempt& attempt : plain)
        if (!attempt.rules.overReals && !attempt.rules.subscriptsInBounds &&
            !attempt.rules.unrolls &&
            !(attempt.rules.coversElements && !attempt.launches.fewThreads))
            attempts.push_back({attempt.launches, attempt.rules, &solver});
    return attempts;
}

/// Whether a kernel computes integers by operators that polynomials do not express.
bool computesBits(KernelRef kernel) {
    constexpr std::array operators{"/", "%", "&", "|", "^", "<<", ">>", "~"};
    return std::ranges::any_of(kernel.kernel.body.exprs, [&](const Expr& expr) {
        const bool isOperation = expr.kind == ExprKind::Binary || expr.kind == ExprKind::Unary;
        const std::string_view op = std::string_view(expr.op).ends_with('=')
                                        ? std::string_view(expr.op).substr(0, expr.op.size() - 1)
                                        : std::string_view(expr.op);
        return isOperation && isInteger(expr.type.scalar) &&
               std::ranges::find(operators, op) != operators.end();
    });
}

/// Assumes that the indices of threads and blocks which the kernel names are below their extents.
void assumePlaces(TermTable& terms, IntegerFacts& integers, KernelRef kernel) {
    constexpr Wide most = (Wide{1} << 31) - 1;
    const auto isNamed = [&](std::string_view name, std::size_t axis) {
        return std::ranges::any_of(kernel.kernel.body.exprs, [&](const Expr& expr) {
            return expr.kind == ExprKind::BuiltinIndex && expr.name == name &&
                   static_cast<std::size_t>(expr.axis) == axis;
        });
    };
    const auto below = [&](std::string_view place, std::string_view size, std::size_t axis,
                           Wide limit) {
        if (!isNamed(place, axis) || !isNamed(size, axis))
            return;
        const char letter = "xyz"[axis];
        const Term index = terms.symbol(fmt::format("{}.{}", place, letter), {0, limit - 1});
        const Term extent = terms.symbol(fmt::format("{}.{}", size, letter), {1, limit});
        integers.assume(terms.isNegative(terms.subtract(index, extent), {}));
    };
    for (std::size_t axis = 0; axis < 3; ++axis) {
        below("threadIdx", "blockDim", axis, 1024);
        below("blockIdx", "gridDim", axis, most);
    }
}

/// True if whenever the literals of `under` hold, those of `wanted` do.
bool implies(TermTable& terms, IntegerFacts* integers, const Facts& under, const Facts& wanted) {
    return std::ranges::all_of(wanted, [&](Term literal) {
        return terms.decided(literal, under) == terms.truth(true) ||
               (integers != nullptr && integers->implies(under, literal));
    });
}

/// The original's trace with what it does in the rounds that the candidate does at once.
ThreadTrace inAllRounds(TermTable& terms, const ThreadTrace& before, const ThreadTrace& after) {
    ThreadTrace all = before;
    for (const std::map<Term, Term>& round : after.rounds) {
        for (const auto& [place, ways] : before.reads)
            for (const Facts& way : ways) {
                Facts facts;
                for (const Term literal : way)
                    facts.push_back(terms.substituted(literal, round));
                all.reads[terms.substituted(place, round)].push_back(std::move(facts));
            }
        for (const Term sum : before.mayOverflow)
            all.mayOverflow.insert(terms.substituted(sum, round));
        for (const Term divisor : before.divisors)
            all.divisors.insert(terms.substituted(divisor, round));
    }
    return all;
}

/// The number of the parameter that `sum`, a marked result, differs from by a small constant.
std::optional<std::size_t> nearParameter(const TermTable& terms, Term sum, std::size_t parameters) {
    constexpr Wide small = 1024;
    const std::vector<TermTable::Monomial> parts = terms.monomials(terms.arguments(sum).front());
    std::optional<std::size_t> found;
    for (const TermTable::Monomial& part : parts) {
        if (part.atoms.empty()) {
            if (part.factor > 0 || part.factor < -small)
                return std::nullopt;
            continue;
        }
        if (found || part.atoms.size() != 1 || part.factor != 1)
            return std::nullopt;
        for (std::size_t i = 0; i < parameters; ++i)
            if (terms.functionOf(part.atoms[0]) == fmt::format("$parameter{}", i))
                found = i;
        if (!found)
            return std::nullopt;
    }
    return found;
}

/// The first thing that the candidate does otherwise; nullopt if it does the same.
std::optional<std::string> difference(TermTable& terms, IntegerFacts* integers,
                                      const ThreadTrace& before, const ThreadTrace& after) {
    if (before.effects != after.effects) {
        std::size_t at = 0;
        while (at < before.log.size() && at < after.log.size() &&
               before.log[at].upTo == after.log[at].upTo)
            ++at;
        if (at < after.log.size())
            return onLine(after.log[at].what + " may differ", after.log[at].line);
        return "the edit leaves out what the original does last";
    }
    for (const auto& [place, ways] : after.reads) {
        const auto known = before.reads.find(place);
        for (const Facts& way : ways)
            if (known == before.reads.end() ||
                std::ranges::none_of(known->second, [&](const Facts& facts) {
                    return implies(terms, integers, way, facts);
                }))
                return onLine("a read that the original may not make", after.lines.at(place));
    }
    for (const Term divisor : after.divisors)
        if (!before.divisors.contains(divisor))
            return onLine("a divisor that may be zero", after.lines.at(divisor));
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
    IntegerFacts integers(terms, attempt.solver, attempt.rules.stop);
    EqualTerms equals(terms, integers);
    const bool asks = attempt.solver != nullptr;
    if (asks) {
        assumePlaces(terms, integers, original);
        assumePlaces(terms, integers, candidate);
        terms.consult([&](Term term, const IntegerRange& range, const Facts& facts) {
            return integers.within(term, range, facts);
        });
    }
    LoopRecords records;
    const auto runOf = [&](KernelRef kernel, bool isOriginal) {
        ThreadRun thread(terms, kernel, attempt.rules, records, isOriginal);
        thread.unify(asks ? &equals : nullptr);
        return thread.run();
    };
    const auto before = runOf(original, true);
    if (!before)
        return std::unexpected(Unproved{fmt::format("the original has {}", before.error())});
    const bool isNarrow = terms.usedFewThreads();
    const auto after = runOf(candidate, false);
    if (!after)
        return std::unexpected(Unproved{after.error()});
    const ThreadTrace all = inAllRounds(terms, *before, *after);
    if (auto reason = difference(terms, asks ? &integers : nullptr, all, *after))
        return std::unexpected(Unproved{std::move(*reason)});
    if (auto reason = smallerArray(original.kernel.body, candidate.kernel.body))
        return std::unexpected(Unproved{std::move(*reason)});
    // Only the original's own limit may be taken for granted.
    if (attempt.launches.fewThreads && !isNarrow)
        return std::unexpected(Unproved{"the number of a thread is kept in fewer bits"});
    Proved proved;
    proved.conditions.assign(after->conditions.begin(), after->conditions.end());
    const auto& parameters = candidate.kernel.parameters;
    for (const Term sum : after->mayOverflow) {
        if (all.mayOverflow.contains(sum))
            continue;
        const auto parameter = nearParameter(terms, sum, parameters.size());
        // An unsplit loop has no need of it.
        if (!parameter || after->rounds.empty())
            return std::unexpected(
                Unproved{onLine("arithmetic that may overflow where the original's does not",
                                after->lines.at(sum))});
        proved.conditions.push_back(
            fmt::format("{} - 1024 does not overflow", parameters[*parameter].name));
    }
    for (const auto& [parameter, condition] : after->covered)
        if (!launchesCover(terms, candidate, terms.symbol(fmt::format("parameter{}", parameter))))
            proved.conditions.push_back(condition);
    for (const std::string& condition : before->conditions)
        if (!after->conditions.contains(condition))
            proved.conditions.push_back(condition);
    if (attempt.launches.fewThreads)
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

std::string onLine(std::string_view what, std::uint32_t line) {
    return fmt::format("{} on line {}", what, line);
}

std::string Proved::sentence() const {
    std::string text = equality == Equality::Reals
                           ? "proved for all inputs and sizes, as real numbers"
                           : "proved for all inputs and sizes";
    for (std::size_t i = 0; i < conditions.size(); ++i)
        text += (i == 0 ? ", if " : " and ") + conditions[i];
    return text;
}

Proof prove(KernelRef original, KernelRef candidate, skills::Numerics numerics,
            const std::stop_token& stop) {
    const auto surroundings = compareSurroundings(original, candidate);
    if (!surroundings)
        return std::unexpected(surroundings.error());
    if (auto heads = compareHeads(original, candidate); !heads)
        return std::unexpected(heads.error());
    std::vector<std::string> conditions = conditionsOfHead(original, candidate);
    const bool isSame = haveSameBody(original, candidate);
    if (surroundings->changesLaunches && isSame) {
        const auto launches = proveLaunches(original, candidate, stop);
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
        // A loop that has no counterpart says less than how the effects differ where it has one.
        constexpr std::string_view noLoop = "no loop of the original";
        std::optional<Unproved> first;
        std::optional<Proved> found;
        const std::vector<Attempt> attempts = surroundings->changesLaunches
                                                  ? std::vector<Attempt>{}
                                                  : attemptsAt(original, candidate, numerics, stop);
        const auto tryAll = [&](const std::vector<Attempt>& these) {
            for (const Attempt& attempt : these) {
                if (stop.stop_requested())
                    return;
                if (auto proof = attemptProof(original, candidate, attempt)) {
                    found = std::move(*proof);
                    return;
                } else if (!first || (first->reason.starts_with(noLoop) &&
                                      !proof.error().reason.starts_with(noLoop))) {
                    first = std::move(proof).error();
                }
            }
        };
        tryAll(attempts);
        if (!found && (computesBits(original) || computesBits(candidate))) {
            IntegerSolver solver(stop);
            tryAll(solverAttempts(attempts, solver));
        }
        if (!found) {
            if (auto proof =
                    proveSharedWork(original, candidate, surroundings->changesLaunches, stop))
                found = std::move(*proof);
            else if (!first)
                first = std::move(proof).error();
        }
        if (stop.stop_requested())
            return unproved(stoppedProof);
        if (!found)
            return std::unexpected(std::move(*first));
        proved = std::move(*found);
    }
    proved.conditions.insert(proved.conditions.end(), conditions.begin(), conditions.end());
    return proved;
}

} // namespace kernelskill::engine
