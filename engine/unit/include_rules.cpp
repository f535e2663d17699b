#include "engine/unit/include_rules.h"

#include <algorithm>
#include <array>
#include <system_error>

namespace kernelskill::engine {
namespace {

constexpr std::array<std::string_view, 25> deviceHeaders = {
    "assert.h",    "cassert",   "cfloat",   "climits",         "cmath",      "cstddef",  "cstdint",
    "cstdio",      "cstdlib",   "cstring",  "float.h",         "inttypes.h", "limits",   "limits.h",
    "math.h",      "stdbool.h", "stddef.h", "stdint.h",        "stdio.h",    "stdlib.h", "string.h",
    "type_traits", "utility",   "time.h",   "initializer_list"};
/// Headers that are costly to read: kept only if the code says `std::`.
constexpr std::array<std::string_view, 9> standardHeaders = {"algorithm", "array",    "bit",
                                                             "complex",   "concepts", "functional",
                                                             "numeric",   "numbers",  "tuple"};

} // namespace

IncludeRules::IncludeRules(std::filesystem::path preludeInclude,
                           std::vector<std::string> systemFolders, IncludeBreadth breadth,
                           bool usesStandardLibrary)
    : preludeInclude_(std::move(preludeInclude)), breadth_(breadth),
      usesStandardLibrary_(usesStandardLibrary) {
    for (auto& folder : systemFolders)
        systemFolders_.emplace_back(std::move(folder));
    std::error_code ignored;
    systemFolders_.emplace_back("/usr/include");
    systemFolders_.emplace_back("/usr/local/include");
    systemFolders_.emplace_back("/usr/include/x86_64-linux-gnu");
    systemFolders_.emplace_back("/usr/include/aarch64-linux-gnu");
    for (const auto& version : std::filesystem::directory_iterator("/usr/include/c++", ignored))
        systemFolders_.push_back(version.path());
}

bool IncludeRules::keeps(const IncludeLine& line) const {
    if (line.spelling.empty() || !line.resolved.empty())
        return true;
    const auto name = std::string_view(line.spelling).substr(1, line.spelling.size() - 2);
    std::error_code ignored;
    if (std::filesystem::exists(preludeInclude_ / name, ignored))
        return true;
    if (std::ranges::find(deviceHeaders, name) != deviceHeaders.end())
        return true;
    if (usesStandardLibrary_ && std::ranges::find(standardHeaders, name) != standardHeaders.end())
        return true;
    return breadth_ == IncludeBreadth::AllFound &&
           std::ranges::any_of(systemFolders_, [&](const auto& folder) {
               return std::filesystem::is_regular_file(folder / name, ignored);
           });
}

} // namespace kernelskill::engine
