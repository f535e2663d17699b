/// Computes terms from numbers for their symbols.
#pragma once

#include "engine/proof/terms.h"

#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace kernelskill::engine {

/// Truth values are 1 and 0. Keeps the reference.
class TermValues {
public:
    /// The value of a symbol, or of an unknown function with these arguments; nullopt if it has
    /// none.
    using Unknown = std::function<std::optional<Wide>(Term, const std::vector<Wide>&)>;

    TermValues(const TermTable& terms, Unknown unknown)
        : terms_(terms), unknown_(std::move(unknown)) {}

    /// nullopt if a part has no value, if the number is too large, or after a division by zero.
    [[nodiscard]] std::optional<Wide> valueOf(Term term);

private:
    [[nodiscard]] std::optional<Wide> computed(Term term);
    [[nodiscard]] std::optional<Wide> sumOf(Term term);
    [[nodiscard]] std::optional<Wide> resultOf(Term term, const std::vector<Wide>& values);

    const TermTable& terms_;
    Unknown unknown_;
    std::map<Term, std::optional<Wide>> known_;
};

} // namespace kernelskill::engine
