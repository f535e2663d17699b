/// Extracts the new kernel from a language model's reply.
#pragma once

#include "analysis/source/error.h"

#include <string>
#include <string_view>

namespace kernelskill::engine {

struct KernelBlock {
    std::string code; ///< Without the fence; lines end with '\n'; no white space around it.
    /// The text around the block as one line of printable ASCII, cut to about 600 bytes. It is a
    /// claim of the model, not a finding.
    std::string claim;
};

/// `reply` contains one fenced block (```), the kernel. Unsupported, with the reason, if it
/// contains none or several, or if the block has no end.
[[nodiscard]] Result<KernelBlock> kernelBlock(std::string_view reply);

} // namespace kernelskill::engine
