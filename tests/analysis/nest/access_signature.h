/// Writes the accesses of a nest to the kernel's parameters as text, to compare kernels.
#pragma once

#include "analysis/nest/nest.h"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace kernelskill::analysis::testing {

/// An index as a polynomial over names.
using NamedPolynomial = std::map<std::vector<std::string>, std::int64_t>;
/// Array, what is done ("read", "write", "atomic"), field, flat index.
using SignatureEntry = std::tuple<std::string, std::string, std::string, NamedPolynomial>;

struct AccessSignature {
    std::set<SignatureEntry> entries;
    std::vector<std::string> varying; ///< Names of what differs between threads and rounds.
};

/// Flat indices that are taken apart by `/` and `%` elsewhere count as their parts.
[[nodiscard]] AccessSignature signatureOf(Nest nest);

/// Whether one is the other with names of what varies exchanged one for one.
[[nodiscard]] bool areSame(const AccessSignature& a, const AccessSignature& b);

[[nodiscard]] std::string signatureText(const AccessSignature& signature);

} // namespace kernelskill::analysis::testing
