/// Finds what an edit takes away from the synchronisation of a program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Uses of one function or keyword that orders threads, or that makes an update indivisible.
struct LessSynchronisation {
    std::string name; ///< "atomicAdd", "__syncthreads", "volatile", "membar"
    int before = 0;
    int after = 0;
};

/// What `candidate` uses less often than `original`: atomics, fences, barriers and volatile, in
/// code and in inline assembly. An atomic of another scope or kind has another name. Both are whole
/// texts, because edits reach functions that kernels call.
[[nodiscard]] std::vector<LessSynchronisation> lessSynchronisation(std::string_view original,
                                                                   std::string_view candidate);

/// Whether threads of `text` may order each other by other means than barriers.
[[nodiscard]] bool usesMoreThanBarriers(std::string_view text);

/// "1 of 2 '__syncthreads' and 1 of 1 'atomicAdd'"
[[nodiscard]] std::string describe(const std::vector<LessSynchronisation>& removed);

} // namespace kernelskill::engine
