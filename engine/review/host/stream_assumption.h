/// Assumptions on streams and copies that the text of a host function leaves open. An edit keeps
/// the order of work if it keeps it under each of them.
#pragma once

#include "engine/review/host/host_steps.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Stands for all streams that the function does not name; others work in them before and after.
inline constexpr const char* elsewhere = "elsewhere";

struct StreamAssumption {
    /// The streams that came from outside, by the name that the function has for them: which are
    /// one and the same is told by equal values.
    std::map<std::string, std::string> lanes;
    std::map<std::string, StreamKind> kinds; ///< The kinds of these values.
    bool isPageable = false;                 ///< All memory of the host is pageable.
    /// A wait for the legacy default stream is a wait for all blocking streams.
    bool waitsForBlocking = false;
};

/// Every combination for these streams from outside, the default stream aside. nullopt: too many.
[[nodiscard]] std::optional<std::vector<StreamAssumption>>
streamAssumptions(const std::set<std::string>& outside);

} // namespace kernelskill::engine
