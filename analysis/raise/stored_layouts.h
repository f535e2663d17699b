/// Stores buffers as their readers run over them.
#pragma once

#include "analysis/raise/program.h"

namespace kernelskill::analysis::raise {

/// A local buffer with one reader, which loads it at one position in which quotients or remainders
/// of axes stand, is stored with those axes as its own: the heads of an attention, which the next
/// linear layer reads as one row, are stored as that row. Its computation divides then, once for
/// each element that it stores, and the reader's inner loop does not.
[[nodiscard]] Program withStoredLayouts(Program program);

} // namespace kernelskill::analysis::raise
