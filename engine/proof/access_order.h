/// Whether the order of accesses matters where work is shared out in another way.
#pragma once

#include "engine/proof/work_match.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace kernelskill::engine {

class AccessOrder {
public:
    /// Keeps the references. `kernel`: the candidate, whose parameters may be __restrict__.
    AccessOrder(TermTable& terms, IntegerFacts& integers, const analysis::KernelModel& kernel)
        : terms_(terms), integers_(integers), kernel_(kernel) {}

    /// Requires an item of the original to read nothing that it may have written before, other than
    /// what it was found to read.
    [[nodiscard]] std::optional<std::string> checkItem(const ThreadTrace& item);
    /// Requires what is done for two different numbers to touch no memory that one of them writes.
    [[nodiscard]] std::optional<std::string> checkItemsApart(const WorkItem& one,
                                                             const WorkItem& other);
    /// Requires each item's accesses to come in an order that is as good as the original's.
    [[nodiscard]] std::optional<std::string> checkSection(const ThreadTrace& candidate,
                                                          const SharedSection& shared);

    /// Numbers of the parameters whose memory was taken not to overlap.
    [[nodiscard]] const std::set<std::size_t>& apart() const { return apart_; }

private:
    /// Takes for granted what keeps them apart, if anything may.
    [[nodiscard]] bool areApart(const ThreadAccess& one, const ThreadAccess& other,
                                std::optional<Term> ifTrue = std::nullopt);
    /// The parameter that an address leads from, as its number; -1 for constant memory.
    [[nodiscard]] std::optional<int> baseOf(Term address) const;

    TermTable& terms_;
    IntegerFacts& integers_;
    const analysis::KernelModel& kernel_;
    std::set<std::size_t> apart_;
};

} // namespace kernelskill::engine
