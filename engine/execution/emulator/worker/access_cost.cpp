#include "engine/execution/emulator/worker/access_cost.h"

#include <algorithm>
#include <array>
#include <bit>

namespace kernelskill::engine::emulator {

namespace {

constexpr unsigned banks = 32;
constexpr unsigned bankBytes = 4;

/// The maximum number of distinct words that one bank has to serve for the lanes of a phase.
unsigned phaseWavefronts(std::span<const LaneAddress> lanes, std::uint32_t bytes) {
    // [bank][n]: the distinct words so far.
    std::array<std::array<std::uint64_t, banks>, banks> words;
    std::array<std::uint8_t, banks> counts{};
    unsigned most = 0;
    for (const LaneAddress& lane : lanes) {
        const std::uint64_t last = (lane.address + bytes - 1) / bankBytes;
        for (std::uint64_t word = lane.address / bankBytes; word <= last; ++word) {
            const unsigned bank = word % banks;
            auto* const begin = words[bank].data();
            auto* const end = begin + counts[bank];
            if (counts[bank] == banks || std::find(begin, end, word) != end)
                continue;
            *end = word;
            most = std::max<unsigned>(most, ++counts[bank]);
        }
    }
    return most;
}

} // namespace

unsigned distinctSectors(std::span<const LaneAddress> lanes, std::uint32_t bytes,
                         std::span<std::uint64_t> sectors) {
    unsigned count = 0;
    bool ascending = true;
    for (const LaneAddress& lane : lanes) {
        const std::uint64_t last = (lane.address + bytes - 1) / sectorBytes;
        for (std::uint64_t sector = lane.address / sectorBytes; sector <= last; ++sector) {
            if (count != 0) {
                if (sectors[count - 1] == sector)
                    continue;
                ascending &= sectors[count - 1] < sector;
            }
            sectors[count++] = sector;
        }
    }
    if (ascending)
        return count;
    const auto end = sectors.begin() + count;
    std::sort(sectors.begin(), end);
    return static_cast<unsigned>(std::unique(sectors.begin(), end) - sectors.begin());
}

SharedCost sharedCost(std::span<const LaneAddress> lanes, std::uint32_t bytes) {
    const unsigned lanesPerPhase = bytes > 8 ? 8 : bytes > 4 ? 16 : 32;
    SharedCost cost;
    std::size_t first = 0;
    while (first < lanes.size()) {
        const unsigned phase = lanes[first].lane / lanesPerPhase;
        std::size_t end = first + 1;
        while (end < lanes.size() && lanes[end].lane / lanesPerPhase == phase)
            ++end;
        const unsigned wavefronts = phaseWavefronts(lanes.subspan(first, end - first), bytes);
        cost.wavefronts += wavefronts;
        cost.conflicts += wavefronts - 1;
        first = end;
    }
    return cost;
}

bool isConflictFree(std::uint32_t mask, const LaneAddresses& addresses) {
    if (mask == ~std::uint32_t{0}) {
        // 32 consecutive words, in any order, are in 32 banks.
        const std::uint64_t low = addresses.front() & ~std::uint64_t{bankBytes - 1};
        std::uint64_t distances = 0;
        for (const std::uint64_t address : addresses)
            distances |= address - low;
        if (distances < std::uint64_t{banks} * bankBytes)
            return true;
    }
    // Each bank stores one of its words; if it has a second word, that one is missing.
    std::array<std::uint64_t, banks> words;
    std::uint64_t difference = 0;
    const auto claim = [&](unsigned lane) {
        const std::uint64_t word = addresses[lane] / bankBytes;
        words[word % banks] = word;
    };
    const auto compare = [&](unsigned lane) {
        const std::uint64_t word = addresses[lane] / bankBytes;
        difference |= words[word % banks] ^ word;
    };
    if (mask == ~std::uint32_t{0}) {
        for (unsigned lane = 0; lane < addresses.size(); ++lane)
            claim(lane);
        for (unsigned lane = 0; lane < addresses.size(); ++lane)
            compare(lane);
    } else {
        for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
            claim(static_cast<unsigned>(std::countr_zero(rest)));
        for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
            compare(static_cast<unsigned>(std::countr_zero(rest)));
    }
    return difference == 0;
}

bool isConsecutive(const LaneAddresses& addresses, std::uint32_t bytes) {
    std::uint64_t difference = 0;
    std::uint64_t expected = addresses.front();
    for (const std::uint64_t address : addresses) {
        difference |= address ^ expected;
        expected += bytes;
    }
    return difference == 0;
}

unsigned maxLanesOnOneAddress(std::span<const LaneAddress> lanes) {
    unsigned most = 0;
    for (const LaneAddress& lane : lanes) {
        const auto same = std::count_if(lanes.begin(), lanes.end(), [&](const LaneAddress& other) {
            return other.address == lane.address;
        });
        most = std::max(most, static_cast<unsigned>(same));
    }
    return most;
}

} // namespace kernelskill::engine::emulator
