/// Decides which #include lines of the user's files remain when a kernel is compiled for the CPU.
#pragma once

#include "engine/unit/user_files.h"

#include <filesystem>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

enum class IncludeBreadth : std::uint8_t {
    DeviceHeaders, ///< User headers, the prelude's, and the standard headers that device code can
                   ///< use.
    AllFound,      ///< Also every other header that this machine has.
};

class IncludeRules {
public:
    IncludeRules(std::filesystem::path preludeInclude, std::vector<std::string> systemFolders,
                 IncludeBreadth breadth, bool usesStandardLibrary);
    [[nodiscard]] bool keeps(const IncludeLine& line) const;

private:
    std::filesystem::path preludeInclude_;
    std::vector<std::filesystem::path> systemFolders_;
    IncludeBreadth breadth_;
    bool usesStandardLibrary_;
};

} // namespace kernelskill::engine
