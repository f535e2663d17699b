#include "analysis/features/lane_requests.h"

#include "analysis/source/gpu_constants.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

namespace kernelskill::analysis {

namespace {

constexpr std::int64_t bankBytes = 4;
constexpr std::int64_t banks = 32;

std::int64_t sectorAt(std::int64_t byte) {
    return byte >= 0 ? byte / sectorBytes : -((sectorBytes - 1 - byte) / sectorBytes);
}

} // namespace

double sectorsOf(std::span<const std::int64_t> addresses, std::int64_t width, std::int64_t shift) {
    std::set<std::int64_t> sectors;
    for (const std::int64_t address : addresses)
        for (std::int64_t byte = 0; byte < width; byte += std::min(width, sectorBytes))
            sectors.insert(sectorAt(address + shift + byte));
    return static_cast<double>(sectors.size());
}

double wavefrontsOf(std::span<const std::int64_t> addresses, std::int64_t width) {
    const std::int64_t atOnce =
        std::max<std::int64_t>(warpLanes / std::max<std::int64_t>(1, width / bankBytes), 1);
    const auto count = static_cast<std::int64_t>(addresses.size());
    double wavefronts = 0;
    double groups = 0;
    for (std::int64_t first = 0; first < count; first += atOnce, ++groups) {
        std::map<std::int64_t, std::set<std::int64_t>> wordsOfBank;
        for (std::int64_t lane = first; lane < std::min(first + atOnce, count); ++lane)
            for (std::int64_t byte = 0; byte < std::max(width, bankBytes); byte += bankBytes) {
                const std::int64_t word =
                    (addresses[static_cast<std::size_t>(lane)] + byte) / bankBytes;
                wordsOfBank[((word % banks) + banks) % banks].insert(word);
            }
        std::size_t worst = 1;
        for (const auto& [bank, words] : wordsOfBank)
            worst = std::max(worst, words.size());
        wavefronts += static_cast<double>(worst);
    }
    return groups > 0 ? wavefronts / groups : 1;
}

} // namespace kernelskill::analysis
