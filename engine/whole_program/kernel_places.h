/// Finds the sources of the kernels that a program ran.
#pragma once

#include "engine/program/source_tree.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

struct KernelDefinition {
    std::filesystem::path file; ///< The path from the tree's root.
    std::uint32_t line = 0;     ///< The definition's first line, from 0.
    std::string qualifiedName;  ///< "blas::saxpy"

    /// Whether a user means it by this name: "saxpy" or "blas::saxpy".
    [[nodiscard]] bool isNamed(std::string_view name) const;
    bool operator==(const KernelDefinition&) const = default;
};

/// The kernels that the sources of a tree define, by their texts alone: nothing is parsed or run.
class KernelPlaces {
public:
    /// Reads CUDA and C++ sources and headers of up to 4 MiB.
    KernelPlaces(const SourceTree& tree, const std::stop_token& stop);

    /// The definition of the kernel with this mangled symbol. Of several the one nearest to
    /// `folder`, which is taken from the root; then the first by its path. nullopt if there is
    /// none.
    [[nodiscard]] std::optional<KernelDefinition> of(const std::string& symbol,
                                                     const std::filesystem::path& folder) const;

private:
    std::multimap<std::string, KernelDefinition> places_; ///< The key is the plain name.
};

} // namespace kernelskill::engine
