#include "analysis/source/files.h"

#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace kernelskill::analysis {

std::optional<std::string> readFile(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    // Only the first read detects a folder or a broken disk; opening succeeds.
    const bool isEmpty = stream.peek() == std::ifstream::traits_type::eof();
    if (isEmpty)
        return stream.is_open() && !stream.bad() ? std::optional(std::string()) : std::nullopt;
    std::ostringstream text;
    text << stream.rdbuf();
    return text ? std::optional(std::move(text).str()) : std::nullopt;
}

bool pathExists(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
}

bool isFile(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
}

} // namespace kernelskill::analysis
