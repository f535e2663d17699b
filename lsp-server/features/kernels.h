/// The kernels of a file, as an overview of many files shows them.
#pragma once

#include "lsp-server/documents/snapshot.h"
#include "lsp-server/program/kernel_shares.h"
#include "lsp-server/protocol/position.h"

#include <nlohmann/json_fwd.hpp>

namespace kernelskill::lsp {

/// [{name, range, selectionRange, bottleneck, measured, roofline, program}] of the kernels that
/// stand in the file itself; `selectionRange` is the name's. `measured` and `roofline` are those of
/// a known profile, else null: nothing is run. `program` is {name, share, microseconds} of the last
/// profile of a program, whose shares of the file's kernels are `shares`, or null.
[[nodiscard]] nlohmann::json kernelsJson(const Snapshot& snapshot, const KernelShares* shares,
                                         PositionEncoding encoding);

} // namespace kernelskill::lsp
