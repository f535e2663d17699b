#include "analysis/model/memory_space.h"

namespace kernelskill::analysis {

MemorySpace memorySpaceOf(const Variable& variable) {
    switch (variable.storage) {
    case Storage::Parameter:
        return variable.type.pointerDepth > 0 ? MemorySpace::Global : MemorySpace::Local;
    case Storage::Shared:
    case Storage::DynamicShared:
        return MemorySpace::Shared;
    case Storage::Constant:
        return MemorySpace::Constant;
    case Storage::DeviceGlobal:
        return MemorySpace::Global;
    case Storage::Local:
        return variable.type.pointerDepth > 0 && variable.type.arrayExtents.empty()
                   ? MemorySpace::Generic
                   : MemorySpace::Local;
    default:
        return MemorySpace::Generic;
    }
}

} // namespace kernelskill::analysis
