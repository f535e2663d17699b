/// textDocument/inlayHint: what a memory access costs, where that is more than it need be, and what
/// holds the kernel back on the lines that cause it.
#pragma once

#include "lsp-server/documents/snapshot.h"
#include "lsp-server/protocol/language_features.h"

#include <vector>

namespace kernelskill::lsp {

[[nodiscard]] std::vector<InlayHint> inlayHints(const Snapshot& snapshot, analysis::Span range,
                                                PositionEncoding encoding);

} // namespace kernelskill::lsp
