/// Writes findings about a kernel as bytes for a file, and reads them.
#pragma once

#include "engine/findings/profile_cache.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

struct KeptFindings {
    KernelFindings findings;           ///< Has a profile.
    std::vector<FunctionPlace> places; ///< The places that the profile's lines refer to.
};

[[nodiscard]] std::string encodeFindings(const KeptFindings& kept);
/// nullopt if the bytes were not made by encodeFindings() of this version.
[[nodiscard]] std::optional<KeptFindings> decodeFindings(std::string_view bytes);

} // namespace kernelskill::engine
