#include "engine/replay/recorder/held_memory.h"

#include "engine/replay/difference_tally.h"
#include "engine/storage/size_text.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <utility>

namespace kernelskill::engine::replay {
namespace {

/// Bytes of it are a tiny float and a negative index. They are only written over.
constexpr unsigned char poisonByte = 0xA5;
/// The max size of a module's `__constant__` variables.
constexpr std::uint64_t maxConstantBytes = 64 << 10;
/// More pages are not looked at byte by byte.
constexpr std::size_t maxPages = 16'384;

std::string addressText(std::uint64_t address) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    return text;
}

const std::byte* hostPointer(std::uint64_t address) {
    return reinterpret_cast<const std::byte*>(address); // NOLINT(performance-no-int-to-ptr)
}

} // namespace

Result<std::unique_ptr<HeldMemory>> HeldMemory::save(DeviceWork& work,
                                                     const std::vector<Allocation>& allocations,
                                                     const CubinSymbols& symbols, CUmodule module,
                                                     std::span<const std::uint64_t> passed,
                                                     const ReplayTarget& target) {
    const auto& driver = work.driver();
    std::size_t free = 0;
    std::size_t total = 0;
    if (auto asked = driver.check("ask for the free memory", driver.cuMemGetInfo(&free, &total));
        !asked)
        return std::unexpected(asked.error());
    const std::uint64_t deviceLimit = target.deviceBytes != 0 ? target.deviceBytes : free / 2;
    std::unique_ptr<HeldMemory> held(new HeldMemory(work, deviceLimit, target.hostBytes));
    std::uint64_t needed = 0;
    for (const Allocation& each : allocations)
        needed += each.bytes;
    if (needed > deviceLimit + target.hostBytes)
        return std::unexpected(
            Error{ErrorKind::Unsupported,
                  "the pause needs " + sizeText(needed) + " to save the program's " +
                      std::to_string(allocations.size()) + " allocations, and may take " +
                      sizeText(deviceLimit) + " on the GPU and " + sizeText(target.hostBytes) +
                      " of the host",
                  {},
                  "run the program with a smaller problem"});
    for (const Allocation& each : allocations) {
        if (each.isHost) {
            const std::byte* begin = hostPointer(each.address);
            const bool isPassed = std::ranges::any_of(passed, [&](std::uint64_t address) {
                return address >= each.address && address - each.address < each.bytes;
            });
            held->hostParts_.push_back({each.address, {begin, begin + each.bytes}, isPassed});
            continue;
        }
        if (auto added = held->add("the allocation of " + sizeText(each.bytes) + " at " +
                                       addressText(each.address),
                                   each.address, each.bytes, {});
            !added)
            return std::unexpected(added.error());
        ++held->allocations_;
        held->allocatedBytes_ += each.bytes;
    }
    for (const CubinVariable& variable : symbols.variables) {
        CUdeviceptr address = 0;
        std::size_t bytes = 0;
        if (driver.cuModuleGetGlobal(&address, &bytes, module, variable.name.c_str()) !=
                CUDA_SUCCESS ||
            bytes == 0) {
            if (variable.isManaged)
                return std::unexpected(
                    Error{ErrorKind::Unsupported,
                          "the driver gives no address for the managed variable '" + variable.name +
                              "', so it is not saved",
                          {},
                          {}});
            continue; // A text of the compiler's, which has no name for the driver.
        }
        if (auto added =
                held->add("the variable '" + variable.name + "'", address, bytes, variable.name);
            !added)
            return std::unexpected(added.error());
    }
    if (auto done = work.finish(); !done)
        return std::unexpected(done.error());
    return held;
}

Result<void> HeldMemory::add(std::string where, std::uint64_t address, std::uint64_t bytes,
                             std::string variable) {
    auto copy = store_.copyOf(address, bytes);
    if (!copy)
        return std::unexpected(copy.error());
    parts_.push_back(Part{std::move(where), address, bytes, std::move(variable), std::move(*copy),
                          std::nullopt, false});
    return {};
}

Result<void> HeldMemory::restore() {
    for (const Part& part : parts_) {
        if (!part.isTouched)
            continue;
        if (auto done = store_.restore(part.before, part.address); !done)
            return done;
    }
    return {};
}

Result<void> HeldMemory::restoreAll() {
    const auto pages = changedPages(false, {});
    if (!pages)
        return std::unexpected(pages.error());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (!(*pages)[i].empty())
            parts_[i].isTouched = true;
    }
    if (auto done = restore(); !done)
        return done;
    return work_.finish();
}

Result<void> HeldMemory::seed(const VariablePlaces& variables) {
    for (const Part& part : parts_) {
        const auto place = variables.find(part.variable);
        if (part.variable.empty() || place == variables.end())
            continue;
        if (auto done = store_.restore(part.before, place->second); !done)
            return done;
    }
    return {};
}

Result<std::vector<std::vector<std::uint64_t>>>
HeldMemory::changedPages(bool after, const OtherResults& others) {
    std::vector<CopyStore::Compared> compared;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const Part& part = parts_[i];
        const auto other = others.find(i);
        const MemoryCopy* copy = other != others.end() ? &other->second
                                 : after && part.after ? &*part.after
                                                       : &part.before;
        // Kernels need not be able to read a `__constant__` variable by its address.
        compared.push_back(
            {part.address, copy, !part.variable.empty() && part.bytes <= maxConstantBytes});
    }
    return store_.differingPages(compared);
}

Result<std::uint64_t> HeldMemory::keepResult() {
    const auto pages = changedPages(false, {});
    if (!pages)
        return std::unexpected(pages.error());
    std::uint64_t changed = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        Part& part = parts_[i];
        if ((*pages)[i].empty())
            continue;
        part.isTouched = true;
        auto copy = store_.copyOf(part.address, part.bytes);
        if (!copy)
            return std::unexpected(copy.error());
        part.after.emplace(std::move(*copy));
        changed += std::min<std::uint64_t>(part.bytes, (*pages)[i].size() * DeviceWork::pageBytes);
    }
    if (auto done = work_.finish(); !done)
        return std::unexpected(done.error());
    if (const auto host = hostChanges(); !host.empty())
        return std::unexpected(Error{
            ErrorKind::Unsupported,
            "page-locked memory of the host changed while the kernel ran (" +
                std::to_string(host.front().differingBytes) + " bytes of " + host.front().where +
                "): the kernel or another thread of the program writes to it",
            {},
            {}});
    return changed;
}

std::vector<MemoryDifference> HeldMemory::hostChanges() {
    std::vector<MemoryDifference> all;
    for (HostPart& part : hostParts_) {
        auto* live = const_cast<std::byte*>(hostPointer(part.address));
        if (std::memcmp(live, part.before.data(), part.before.size()) == 0)
            continue;
        std::vector<std::byte> now(live, live + part.before.size());
        DifferenceTally tally("page-locked memory of the host at " + addressText(part.address),
                              part.address, now.size(), {});
        tally.add(0, now, part.before, part.before);
        if (auto found = tally.result()) { // Empty if the host has undone its change meanwhile.
            found->isOfHost = true;
            all.push_back(std::move(*found));
        }
        if (!part.isPassed) {
            part.before = std::move(now);
            continue;
        }
        // Only what has changed is put back: the host may be writing to the rest.
        for (std::size_t i = 0; i < now.size(); ++i) {
            if (now[i] != part.before[i])
                live[i] = part.before[i];
        }
    }
    return all;
}

Result<std::vector<MemoryDifference>> HeldMemory::differences(std::span<const TypedRange> elements,
                                                              const VariablePlaces& variables,
                                                              const OtherResults& others) {
    const auto pages = changedPages(true, others);
    if (!pages)
        return std::unexpected(pages.error());
    std::vector<MemoryDifference> all;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        Part& part = parts_[i];
        part.isTouched = part.isTouched || !(*pages)[i].empty();
        const auto other = others.find(i);
        const MemoryCopy& expected = other != others.end() ? other->second
                                     : part.after          ? *part.after
                                                           : part.before;
        const auto place = variables.find(part.variable);
        auto found = !part.variable.empty() && place != variables.end()
                         ? variableDifference(part, place->second, expected)
                         : differenceOf(part, (*pages)[i], elements, expected);
        if (!found)
            return std::unexpected(found.error());
        if (*found)
            all.push_back(std::move(**found));
    }
    std::ranges::move(hostChanges(), std::back_inserter(all));
    return all;
}

Result<std::optional<MemoryDifference>>
HeldMemory::differenceOf(const Part& part, const std::vector<std::uint64_t>& pages,
                         std::span<const TypedRange> elements, const MemoryCopy& expected) {
    const bool isVariable = !part.variable.empty();
    DifferenceTally tally(part.where, isVariable ? 0 : part.address, part.bytes,
                          isVariable ? std::span<const TypedRange>() : elements);
    std::vector<std::byte> found(DeviceWork::pageBytes);
    std::vector<std::byte> wanted(found.size());
    std::vector<std::byte> before(found.size());
    for (std::size_t i = 0; i < pages.size() && i < maxPages; ++i) {
        const std::uint64_t offset = pages[i] * DeviceWork::pageBytes;
        const std::uint64_t count = std::min(DeviceWork::pageBytes, part.bytes - offset);
        auto done = store_.read(part.address + offset, std::span(found).first(count));
        if (done)
            done = store_.read(expected, offset, std::span(wanted).first(count));
        if (done)
            done = store_.read(part.before, offset, std::span(before).first(count));
        if (!done)
            return std::unexpected(done.error());
        tally.add(offset, std::span(found).first(count), std::span(wanted).first(count),
                  std::span(before).first(count));
    }
    if (pages.size() > maxPages)
        tally.leaveOut();
    return tally.result();
}

Result<std::optional<MemoryDifference>> HeldMemory::variableDifference(const Part& part,
                                                                       CUdeviceptr candidates,
                                                                       const MemoryCopy& expected) {
    std::vector<std::byte> found(part.bytes);
    std::vector<std::byte> own(part.bytes);
    std::vector<std::byte> wanted(part.bytes);
    std::vector<std::byte> before(part.bytes);
    auto done = store_.read(part.address, found);
    if (done)
        done = store_.read(candidates, own);
    if (done)
        done = store_.read(expected, 0, wanted);
    if (done)
        done = store_.read(part.before, 0, before);
    if (!done)
        return std::unexpected(done.error());
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i] == before[i])
            found[i] = own[i];
    }
    DifferenceTally tally(part.where, 0, part.bytes, {});
    tally.add(0, found, wanted, before);
    return tally.result();
}

std::optional<std::size_t> HeldMemory::partAt(std::uint64_t address) const {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (address >= parts_[i].address && address - parts_[i].address < parts_[i].bytes)
            return i;
    }
    return std::nullopt;
}

Result<void> HeldMemory::poison(std::size_t part, std::uint64_t address) {
    Part& given = parts_[part];
    given.isTouched = true;
    const auto& driver = work_.driver();
    return driver.check("write other contents",
                        driver.cuMemsetD8Async(address, poisonByte,
                                               given.bytes - (address - given.address),
                                               work_.stream()));
}

Result<MemoryCopy> HeldMemory::copyOf(std::size_t part) {
    return store_.copyOf(parts_[part].address, parts_[part].bytes);
}

} // namespace kernelskill::engine::replay
