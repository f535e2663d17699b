#include "engine/proof/access_order.h"

#include "engine/proof/launch_coverage.h"
#include "engine/proof/proof.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::engine {

namespace {

constexpr int constantMemory = -1;

} // namespace

std::optional<int> AccessOrder::baseOf(Term address) const {
    std::optional<int> found;
    for (const TermTable::Monomial& part : terms_.monomials(address)) {
        if (part.atoms.size() != 1 || part.factor != 1)
            continue;
        const int parameter = parameterOf(terms_, part.atoms[0]);
        const bool isPointer =
            parameter >= 0 &&
            kernel_.parameters.at(static_cast<std::size_t>(parameter)).type.pointerDepth > 0;
        const bool isConstant =
            terms_.functionOf(part.atoms[0]).starts_with("$address of constant:");
        if (!isPointer && !isConstant)
            continue;
        if (found)
            return std::nullopt;
        found = isPointer ? parameter : constantMemory;
    }
    return found;
}

bool AccessOrder::areApart(const ThreadAccess& one, const ThreadAccess& other,
                           std::optional<Term> ifTrue) {
    std::vector<Term> both{one.guard, other.guard};
    if (ifTrue)
        both.push_back(*ifTrue);
    if (integers_.excludes(both))
        return true;
    const auto base = baseOf(one.address);
    const auto otherBase = baseOf(other.address);
    if (!base || !otherBase)
        return false;
    if (*base == constantMemory || *otherBase == constantMemory)
        return *base != *otherBase;
    if (*base != *otherBase) {
        const auto first = static_cast<std::size_t>(*base);
        const auto second = static_cast<std::size_t>(*otherBase);
        if (!kernel_.parameters.at(first).type.isRestrict &&
            !kernel_.parameters.at(second).type.isRestrict)
            apart_.insert({first, second});
        return true;
    }
    // They overlap if each begins in front of the other's end.
    const Term distance = terms_.subtract(one.address, other.address);
    both.push_back(terms_.isNegative(terms_.subtract(distance, terms_.integer(other.size)), {}));
    both.push_back(terms_.isNegative(
        terms_.subtract(terms_.multiply(terms_.integer(-1), distance), terms_.integer(one.size)),
        {}));
    return integers_.excludes(std::move(both));
}

std::optional<std::string> AccessOrder::checkItem(const ThreadTrace& item) {
    for (std::size_t i = 0; i < item.accesses.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const ThreadAccess& later = item.accesses[i];
            const ThreadAccess& earlier = item.accesses[j];
            // A read of the written address reads the written value.
            if (later.isWrite || !earlier.isWrite || later.address == earlier.address)
                continue;
            if (!areApart(later, earlier))
                return onLine("the original has a read of what may have been written", later.line);
        }
    return std::nullopt;
}

std::optional<std::string> AccessOrder::checkItemsApart(const WorkItem& one,
                                                        const WorkItem& other) {
    const Term differ =
        terms_.negation(terms_.isZero(terms_.subtract(one.number, other.number), {}));
    for (const ThreadAccess& write : one.trace.accesses)
        for (const ThreadAccess& access : other.trace.accesses)
            if (write.isWrite && !areApart(write, access, differ))
                return onLine("two rounds may touch one element", write.line);
    return std::nullopt;
}

std::optional<std::string> AccessOrder::checkSection(const ThreadTrace& candidate,
                                                     const SharedSection& shared) {
    for (const auto& [later, laterMatches] : shared.matches)
        for (const auto& [earlier, earlierMatches] : shared.matches) {
            const ThreadAccess& second = candidate.accesses[later];
            const ThreadAccess& first = candidate.accesses[earlier];
            if (earlier >= later || !first.isWrite ||
                (!second.isWrite && first.address == second.address))
                continue;
            const SharedSection::Match& written = earlierMatches.front();
            const bool isOthers =
                std::ranges::any_of(laterMatches, [&](const SharedSection::Match& match) {
                    return match.item != written.item;
                });
            // Writes of one item in the original's order.
            const bool isInOrder = second.isWrite && laterMatches.front().access > written.access;
            if (!isOthers && !isInOrder && !areApart(second, first))
                return onLine("an access in another order than the original's", second.line);
        }
    return std::nullopt;
}

} // namespace kernelskill::engine
