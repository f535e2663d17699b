/// Sizes of memory for users.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace kernelskill::engine {

/// "400 bytes", "3.2 kB", "480 MB": at most three digits.
[[nodiscard]] inline std::string sizeText(std::uint64_t bytes) {
    constexpr std::uint64_t step = 1'000;
    if (bytes < step)
        return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
    constexpr std::array units{"kB", "MB", "GB", "TB", "PB", "EB"};
    double size = static_cast<double>(bytes) / step;
    std::size_t unit = 0;
    while (size >= 999.5) { // "%.3g" would print 1e+03.
        size /= step;
        ++unit;
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g %s", size, units.at(unit));
    return text.data();
}

} // namespace kernelskill::engine
