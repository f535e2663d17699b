/// Finds virtual functions of the GPU.
#pragma once

#include "engine/unit/slice.h"

namespace kernelskill::engine {

/// Whether a class of the program has virtual functions for the GPU. A kernel calls them through a
/// table in its own code, which the compiler numbers by all functions of the text that it is given:
/// an object that another kernel has made holds numbers of the whole text.
[[nodiscard]] bool hasVirtualDeviceFunctions(const ScannedProgram& program);

} // namespace kernelskill::engine
