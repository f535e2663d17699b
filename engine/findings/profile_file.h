/// What was found out about a kernel as bytes, for files.
#pragma once

#include "engine/findings/profile_cache.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

struct KeptFindings {
    KernelFindings findings;           ///< With a profile.
    std::vector<FunctionPlace> places; ///< That the profile's lines refer to.
};

[[nodiscard]] std::string encodeFindings(const KeptFindings& kept);
/// nullopt for anything that encodeFindings() of this version did not make.
[[nodiscard]] std::optional<KeptFindings> decodeFindings(std::string_view bytes);

} // namespace kernelskill::engine
