/// NVTX's C++ ranges.
#pragma once

#include "nvtx3/nvToolsExt.h"

namespace nvtx3 {
class scoped_range {
public:
    scoped_range() { nvtxRangePush(""); }
    explicit scoped_range(const char* message) { nvtxRangePush(message); }
    scoped_range(const scoped_range&) = delete;
    scoped_range& operator=(const scoped_range&) = delete;
    ~scoped_range() { nvtxRangePop(); }
};
inline void mark(const char* message) { nvtxMark(message); }
} // namespace nvtx3
#define NVTX3_FUNC_RANGE() ::nvtx3::scoped_range nvtx3FunctionRange(__func__)
