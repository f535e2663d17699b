/// Tells the type of the numbers in memory by C++ types.
#pragma once

#include "analysis/model/kernel_model.h"
#include "engine/replay/replay_wire.h"

#include <string>

namespace kernelskill::engine {

/// Returns Bytes for what is no floating-point number.
[[nodiscard]] MemoryElement elementOf(analysis::ScalarKind kind);

/// Returns the kind of the scalars that a type is made of, of "float4" that of float; Unknown for
/// other types.
[[nodiscard]] analysis::ScalarKind kindOfScalars(const std::string& type);

} // namespace kernelskill::engine
