/// A compiled kernel in this process.
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

/// A `__shared__` variable, by its place in the thread-local segment.
struct SharedVariable {
    std::string name;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    bool isGuard =
        false; ///< The compiler's note that a variable was constructed, not the variable.
};

/// What each lane that runs a basic block does there.
struct Arithmetic {
    Site block = 0; ///< Of the block's hook.
    Site instruction = 0;
    Counter counter = Counter::Count;
    std::uint64_t count = 0;
};

class LoadedImage {
public:
    /// Runs the image's static initialisers: call it inside the sandbox.
    [[nodiscard]] static Result<LoadedImage> load(const std::string& path);

    using Entry = void (*)(void** arguments);
    [[nodiscard]] Entry entry() const { return entry_; }
    [[nodiscard]] std::uint64_t base() const { return base_; }
    [[nodiscard]] AddressRange staticShared() const { return staticShared_; }
    /// Segments of the object: its code, constants and variables.
    [[nodiscard]] const std::vector<AddressRange>& segments() const { return segments_; }
    [[nodiscard]] const std::vector<KsGlobal>& globals() const { return globals_; }
    /// Of the class that parameter `position` points to; empty when it is none or not known.
    [[nodiscard]] std::span<const KsField> pointeeFields(std::size_t position) const {
        return position < parameters_.size()
                   ? std::span(parameters_[position].fields, parameters_[position].fieldCount)
                   : std::span<const KsField>{};
    }
    /// Counts the arithmetic of the basic blocks in `sites`: each lane that ran a block did each
    /// time what is in it.
    void addArithmetic(std::map<Site, Counters>& sites) const;
    [[nodiscard]] bool contains(std::uint64_t address) const;
    /// The variable at `offset` of the shared segment, or the nearest to it; nullptr when none is
    /// known.
    [[nodiscard]] const SharedVariable* sharedVariableNear(std::uint64_t offset) const;
    /// Where the variables of the shared segment lie; all of it when they are not known.
    [[nodiscard]] std::vector<AddressRange> sharedRanges() const;
    /// Name of a `__device__` or `__constant__` variable that holds `address`; empty when none
    /// does.
    [[nodiscard]] std::string globalNameAt(std::uint64_t address) const;
    /// Offsets in the shared segment of what the compiler put beside the variables: guards of their
    /// construction.
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
};

/// Thread-local variables in the symbol table of the object file behind `descriptor`, by their last
/// name component. Empty when there is no symbol table.
[[nodiscard]] std::vector<SharedVariable> readSharedVariables(int descriptor);

} // namespace kernelskill::engine::emulator
