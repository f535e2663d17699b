#include "analysis/command/standard_headers.h"

#include <system_error>

namespace kernelskill::analysis {

namespace {

namespace fs = std::filesystem;

bool hasStandardHeaders(const fs::path& root) {
    std::error_code error;
    const fs::path include = root / "usr" / "include";
    return fs::exists(include / "stdlib.h", error) &&
           fs::directory_iterator(include / "c++", error) != fs::directory_iterator();
}

} // namespace

std::optional<fs::path> substituteSystemRoot(const fs::path& data, const fs::path& systemRoot) {
    const fs::path substitute = data / "sysroot";
    if (hasStandardHeaders(systemRoot) || !hasStandardHeaders(substitute))
        return std::nullopt;
    return substitute;
}

} // namespace kernelskill::analysis
