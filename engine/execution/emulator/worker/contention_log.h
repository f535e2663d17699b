/// Remembers the objects in which atomics of different threads met at one address.
#pragma once

#include "engine/execution/emulator/worker/address_space.h"
#include "engine/execution/profile.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine::emulator {

class ContentionLog {
public:
    /// Whether it would learn nothing from two threads that met at `address`. `amongBlocks`: they
    /// are of different blocks.
    [[nodiscard]] bool knows(std::uint64_t address, bool amongBlocks) const {
        for (const Entry& entry : entries_) {
            if (entry.range.contains(address))
                return entry.contention.amongBlocks || !amongBlocks;
        }
        return entries_.size() == maxObjects;
    }
    /// The threads met in the object `name` at `range`.
    void add(AddressRange range, std::string name, bool amongBlocks) {
        for (Entry& entry : entries_) {
            if (entry.range.low == range.low) {
                entry.contention.amongBlocks |= amongBlocks;
                return;
            }
        }
        entries_.push_back({range, {std::move(name), amongBlocks}});
    }
    [[nodiscard]] std::vector<Contention> objects() const {
        std::vector<Contention> objects;
        for (const Entry& entry : entries_)
            objects.push_back(entry.contention);
        return objects;
    }

private:
    static constexpr std::size_t maxObjects = 64;
    struct Entry {
        AddressRange range;
        Contention contention;
    };
    std::vector<Entry> entries_;
};

} // namespace kernelskill::engine::emulator
