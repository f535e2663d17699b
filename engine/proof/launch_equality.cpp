#include "engine/proof/launch_equality.h"

#include "engine/proof/launch_coverage.h"
#include "engine/proof/thread_run.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// Whether a term follows from the number of the thread in the grid alone.
class PositionCheck {
public:
    PositionCheck(TermTable& terms, Term number, bool sameTotal)
        : terms_(terms), number_(number), sameTotal_(sameTotal) {}

    [[nodiscard]] bool holds(Term term) {
        return !callsInBlock(term) && !hasPlace(terms_, term, sameTotal_, places_);
    }

    /// Returns the bound that the facts put on the thread's number.
    [[nodiscard]] std::optional<Term> bound(const Facts& facts) const {
        for (const Term literal : facts) {
            const std::vector<Term>* negative = terms_.argumentsOf(literal, "negative");
            if (negative == nullptr)
                continue;
            const Term count = terms_.subtract(number_, negative->front());
            const bool isGiven =
                std::ranges::all_of(terms_.monomials(count), [&](const TermTable::Monomial& part) {
                    return std::ranges::all_of(
                        part.atoms, [&](Term atom) { return parameterOf(terms_, atom) >= 0; });
                });
            if (isGiven)
                return count;
        }
        return std::nullopt;
    }

private:
    /// Whether it calls a user's function, which may ask for its place, or works within a block.
    [[nodiscard]] bool callsInBlock(Term term) {
        if (!seen_.insert(term).second)
            return false;
        const std::string& function = terms_.functionOf(term);
        if (function.starts_with("effect:users call") ||
            (function.starts_with("effect:atomic") && function.contains("_block")))
            return true;
        const auto isIn = [&](Term part) { return callsInBlock(part); };
        if (!function.empty())
            return std::ranges::any_of(terms_.arguments(term), isIn);
        return std::ranges::any_of(terms_.monomials(term), [&](const TermTable::Monomial& part) {
            return std::ranges::any_of(part.atoms, isIn);
        });
    }

    TermTable& terms_;
    Term number_;
    bool sameTotal_;
    std::set<Term> seen_;
    std::set<Term> places_;
};

using LaunchProof = std::expected<std::vector<std::string>, Unproved>;

LaunchProof proveLaunchesUnder(LaunchAssumptions assumptions, KernelRef original,
                               KernelRef candidate, const std::stop_token& stop) {
    const KernelModel& kernel = candidate.kernel;
    if (!kernel.sharedArrays.empty() || !kernel.barriers.empty() || !kernel.warpOperations.empty())
        return unproved("threads of a block work together, and the block is changed");
    TermTable terms(assumptions);
    const Term number = numberOfThread(terms, assumptions);
    terms.placeThreads(number);
    LoopRecords records;
    const auto trace = ThreadRun(terms, candidate, {.stop = stop}, records, true).run();
    if (!trace)
        return unproved(fmt::format("the launch is changed, and the kernel has {}", trace.error()));
    bool sameTotal = true;
    for (std::size_t i = 0; i < kernel.launches.size(); ++i) {
        const LaunchText before(original, original.kernel.launches[i]);
        const LaunchText after(candidate, kernel.launches[i]);
        if (!before.block() || !after.block() || before.blocks() == noId || after.blocks() == noId)
            return unproved("the grid or the block of a changed launch is not one-dimensional");
        if (before.rest() != after.rest())
            return unproved("the shared memory or the stream of a launch is changed");
        if (kernel.launchBoundsThreads && *after.block() > *kernel.launchBoundsThreads)
            return unproved("the block is larger than the kernel's launch bounds");
        sameTotal = sameTotal && before.total() == after.total();
    }
    PositionCheck position(terms, number, sameTotal);
    std::vector<Term> all{trace->effects};
    for (const LoopRecord& record : records) {
        all.insert(all.end(),
                   {record.guard, record.condition, record.effects, record.alive, record.inLoop});
        for (const auto* slots : {&record.variables, &record.memories})
            for (const auto& [name, slot] : *slots)
                all.insert(all.end(), {slot.before, slot.after});
    }
    if (!std::ranges::all_of(all, [&](Term term) { return position.holds(term); }))
        return unproved(
            "the launch is changed, and a thread does not follow from its number alone");
    std::vector<std::string> conditions;
    if (assumptions.fewThreads)
        conditions.emplace_back("there are fewer than 2^31 threads");
    if (sameTotal)
        return conditions;
    for (const auto& [place, ways] : trace->reads)
        for (const Facts& way : ways)
            if (!position.bound(way))
                return unproved(fmt::format("the launch is changed, and the read on line {} is not "
                                            "guarded by the number of elements",
                                            trace->lines.at(place)));
    for (const ThreadTrace::Effect& effect : trace->log) {
        const std::vector<Term> then = terms.arguments(effect.upTo);
        if (then.size() != 2 || terms.functionOf(effect.upTo) != "then")
            return unproved("the launch is changed, and the kernel calls what is not followed");
        const Term guard = terms.arguments(then[1]).front();
        if (std::ranges::any_of(records, [&](const LoopRecord& record) {
                return guard != record.guard &&
                       std::ranges::includes(terms.literals(guard), terms.literals(record.guard));
            }))
            continue; // in a loop that is guarded itself
        const auto count = position.bound(terms.literals(guard));
        if (!count)
            return unproved(fmt::format("the launch is changed, and line {} is not guarded by the "
                                        "number of elements",
                                        effect.line));
        for (std::size_t i = 0; i < kernel.launches.size(); ++i)
            if (!covers(terms, LaunchText(original, original.kernel.launches[i]), *count) ||
                !covers(terms, LaunchText(candidate, kernel.launches[i]), *count))
                return unproved(fmt::format("a changed launch may leave out some of {}",
                                            nameOfCount(terms, candidate, *count)));
    }
    return conditions;
}

} // namespace

std::expected<std::vector<std::string>, Unproved>
proveLaunches(KernelRef original, KernelRef candidate, const std::stop_token& stop) {
    if (LaunchProof proof = proveLaunchesUnder({}, original, candidate, stop))
        return proof;
    return proveLaunchesUnder({.fewThreads = true}, original, candidate, stop);
}

} // namespace kernelskill::engine
