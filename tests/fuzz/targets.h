/// Everything of ours that reads bytes which others wrote, for fuzzers and for their corpora.
#pragma once

#include <span>
#include <string_view>

namespace kernelskill::testing {

/// Reads any bytes. Whatever they are, it returns; what it makes of them is checked by abort().
struct FuzzTarget {
    std::string_view name; ///< Of the folder of its corpus, too.
    void (*run)(std::string_view bytes);
};

[[nodiscard]] std::span<const FuzzTarget> fuzzTargets();

} // namespace kernelskill::testing
