/// Finds the kernels that a program was built with, where it cannot be run.
#pragma once

#include "engine/whole_program/kernel_places.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

struct ContainedKernel {
    std::string symbol; ///< Its mangled name.
    KernelDefinition place;
    bool operator==(const ContainedKernel&) const = default;
};

/// The kernels of the tree whose mangled names are in `program`, the bytes of an executable: host
/// code registers its kernels by these names. Sorted by their symbols. Kernels with names of C
/// are not found, since any text of the program may have them. `folder` is the program's, from the
/// root of the tree that `places` are of.
[[nodiscard]] std::vector<ContainedKernel> kernelsIn(std::string_view program,
                                                     const KernelPlaces& places,
                                                     const std::filesystem::path& folder);

} // namespace kernelskill::engine
