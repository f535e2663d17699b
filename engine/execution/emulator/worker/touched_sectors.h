/// The set of 32-byte sectors of buffers that were ever accessed: the minimum that DRAM transfers.
#pragma once

#include "engine/execution/emulator/worker/address_space.h"

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace kernelskill::engine::emulator {

class TouchedSectors {
public:
    /// Returns true if the sector (address / 32) is new.
    bool add(std::uint64_t sector) {
        const std::uint64_t page = sector >> pageShift;
        Recent& recent = recent_[(page ^ (page >> slotShift)) % recent_.size()];
        if (page != recent.page || recent.bits == nullptr) {
            std::vector<std::uint64_t>& bits = pages_[page];
            if (bits.empty())
                bits.resize(pageSectors / 64);
            recent = {page, bits.data()};
        }
        const std::uint64_t inPage = sector & (pageSectors - 1);
        std::uint64_t& word = recent.bits[inPage / 64];
        const std::uint64_t bit = std::uint64_t{1} << (inPage % 64);
        const bool isNew = (word & bit) == 0;
        word |= bit;
        return isNew;
    }

private:
    struct Recent {
        std::uint64_t page = 0;
        std::uint64_t* bits = nullptr;
    };
    static constexpr unsigned slotShift = 15; // Buffers are 2^15 pages apart.
    static constexpr unsigned pageShift = 15; // 1 MiB of memory
    static constexpr std::uint64_t pageSectors = std::uint64_t{1} << pageShift;
    std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> pages_;
    /// The pages that a kernel currently walks through in several buffers.
    std::array<Recent, 8> recent_{};
};

} // namespace kernelskill::engine::emulator
