/// A compiled kernel, loaded into this process.
#pragma once

#include "analysis/prelude/include/kernelskill/emulation_support.h"
#include "analysis/source/error.h"
#include "engine/execution/emulator/wire/counters.h"
#include "engine/execution/emulator/wire/wire.h"
#include "engine/execution/emulator/worker/address_space.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace kernelskill::engine::emulator {

/// A `__shared__` variable, by its offset in the thread-local segment.
struct SharedVariable {
    std::string name;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    bool isGuard =
        false; ///< It is the compiler's flag that a variable was constructed, not a variable.
};

/// The operations of each lane that runs a basic block.
struct Arithmetic {
    Site block = 0; ///< The site of the block's hook.
    Site instruction = 0;
    Counter counter = Counter::Count;
    std::uint64_t count = 0;
};

class LoadedImage {
public:
    /// Runs the image's static initialisers, so call it inside the sandbox.
    [[nodiscard]] static Result<LoadedImage> load(const std::string& path);

    using Entry = void (*)(void** arguments);
    [[nodiscard]] Entry entry() const { return entry_; }
    [[nodiscard]] std::uint64_t base() const { return base_; }
    [[nodiscard]] AddressRange staticShared() const { return staticShared_; }
    /// The object's segments: its code, constants and variables.
    [[nodiscard]] const std::vector<AddressRange>& segments() const { return segments_; }
    [[nodiscard]] const std::vector<KsGlobal>& globals() const { return globals_; }
    /// The fields of the class that parameter `position` points to; empty if it is no class or
    /// unknown.
    [[nodiscard]] std::span<const KsField> pointeeFields(std::size_t position) const {
        return position < parameters_.size()
                   ? std::span(parameters_[position].fields, parameters_[position].fieldCount)
                   : std::span<const KsField>{};
    }
    /// Adds the arithmetic of the basic blocks in `sites`: for each run of a block, each active
    /// lane performs the block's operations.
    void addArithmetic(std::map<Site, Counters>& sites) const;
    /// The outcomes so far of the watched conditions.
    [[nodiscard]] Outcomes conditions() const;
    [[nodiscard]] bool contains(std::uint64_t address) const;
    /// The variable at `offset` of the shared segment, or the nearest one; nullptr if none is
    /// known.
    [[nodiscard]] const SharedVariable* sharedVariableNear(std::uint64_t offset) const;
    /// The ranges of the shared segment's variables; the whole segment if they are unknown.
    [[nodiscard]] std::vector<AddressRange> sharedRanges() const;
    /// The name of the `__device__` or `__constant__` variable that contains `address`; empty if
    /// none does.
    [[nodiscard]] std::string globalNameAt(std::uint64_t address) const;
    /// The offsets, in the shared segment, of flags that the compiler added for the construction of
    /// variables.
    [[nodiscard]] std::vector<SharedVariable> sharedGuards() const;
    void setSharedVariables(std::vector<SharedVariable> variables) {
        sharedVariables_ = std::move(variables);
    }

private:
    Entry entry_ = nullptr;
    std::uint64_t base_ = 0;
    AddressRange staticShared_;
    std::vector<AddressRange> segments_;
    std::vector<KsGlobal> globals_;
    std::vector<KsParameter> parameters_;
    std::vector<SharedVariable> sharedVariables_;
    std::vector<Arithmetic> arithmetic_;
    const ConditionTable* conditions_ = nullptr; ///< Null if no condition is watched.
};

/// The thread-local variables in the symbol table of the object file `descriptor`, by the last
/// component of their names. Empty if there is no symbol table.
[[nodiscard]] std::vector<SharedVariable> readSharedVariables(int descriptor);

} // namespace kernelskill::engine::emulator
