/// A kernel's own part of a listing that holds more.
#pragma once

#include "engine/assembly/listing.h"

#include <optional>
#include <string>

namespace kernelskill::engine {

/// The function `symbol`, then those that its instructions name, themselves or through others.
/// Labels have an instruction after them.
/// nullopt when the listing does not hold it.
[[nodiscard]] std::optional<Listing> withCalledFunctions(Listing listing,
                                                         const std::string& symbol);

} // namespace kernelskill::engine
