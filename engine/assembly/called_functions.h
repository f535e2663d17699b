/// Extracts a kernel's own part of a larger listing.
#pragma once

#include "engine/assembly/listing.h"

#include <optional>
#include <string>

namespace kernelskill::engine {

/// The function `symbol`, then the functions that it names directly or indirectly. Labels have an
/// instruction after them. nullopt if the listing does not contain `symbol`.
[[nodiscard]] std::optional<Listing> withCalledFunctions(Listing listing,
                                                         const std::string& symbol);

} // namespace kernelskill::engine
