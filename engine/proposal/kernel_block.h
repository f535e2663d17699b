/// The new kernel out of what a language model said.
#pragma once

#include "analysis/source/error.h"

#include <string>
#include <string_view>

namespace kernelskill::engine {

struct KernelBlock {
    std::string code; ///< Without the fence, lines ended by '\n', no white space around it.
    /// What stood around it, as one line of printable ASCII, cut to some 600 bytes. It is a claim
    /// of the model's, never a finding.
    std::string claim;
};

/// `reply` holds one fenced block (```), which is the kernel. Unsupported, with the reason, when it
/// holds none, several, or one that does not end.
[[nodiscard]] Result<KernelBlock> kernelBlock(std::string_view reply);

} // namespace kernelskill::engine
