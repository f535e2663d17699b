/// Reads the symbols of a cubin: variables in device memory, and the functions of the driver that a
/// kernel reaches.
#pragma once

#include "analysis/source/error.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct CubinVariable {
    std::string name;
    std::uint64_t bytes = 0;
    bool isManaged = false; ///< `__managed__`
    bool operator==(const CubinVariable&) const = default;
};

struct CubinSymbols {
    /// `__device__`, `__managed__` and `__constant__` variables, in the order of the symbols.
    std::vector<CubinVariable> variables;
    /// Each kernel, with the undefined functions that it calls, however deeply: "vprintf",
    /// "malloc", "__assertfail". Calls through function pointers are not followed.
    std::map<std::string, std::set<std::string>, std::less<>> kernels;
};

/// Reads an ELF image for a GPU. InvalidInput for anything else; parts that do not fit into the
/// image are left out.
[[nodiscard]] Result<CubinSymbols> cubinSymbols(std::span<const std::byte> image);

} // namespace kernelskill::engine
