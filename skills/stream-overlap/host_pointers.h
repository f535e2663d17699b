/// Which memory the pointers of a host function lead into, as far as its text tells.
#pragma once

#include "analysis/queries/code_map.h"
#include "analysis/queries/kernel_reach.h"

#include <cstdint>

namespace kernelskill::skills {

enum class PointerOrigin : std::uint8_t {
    Unknown,
    Device, ///< cudaMalloc and its like, of the function's own.
    Pinned, ///< Memory of the host that cudaMallocHost or cudaHostAlloc has locked.
    Parameter,
    RestrictParameter,
};

class HostPointers {
public:
    /// Keeps the reference.
    explicit HostPointers(const analysis::CodeMap& code) : code_(code) {}

    /// The variable that a pointer is made of; noId where that is not one alone.
    [[nodiscard]] analysis::VariableId rootOf(analysis::ExprId expr) const;
    /// Unknown where the variable may hold more than one pointer, and for noId.
    [[nodiscard]] PointerOrigin originOf(analysis::VariableId variable) const;
    /// Whether what two different variables lead to has no byte in common: one is an allocation of
    /// the function's own, or both are parameters that are __restrict__.
    [[nodiscard]] bool areApart(analysis::VariableId a, analysis::VariableId b) const;

private:
    [[nodiscard]] PointerOrigin allocationOf(analysis::VariableId variable) const;
    [[nodiscard]] PointerOrigin allocationAt(analysis::ExprId use) const;

    const analysis::CodeMap& code_;
};

} // namespace kernelskill::skills
