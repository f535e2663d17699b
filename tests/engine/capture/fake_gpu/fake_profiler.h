/// The part of CUPTI's range profiler that recorders need, for the stand-in of CUPTI.
#pragma once

#include <cstdint>

/// Called after a launch: while a pass runs, it becomes a range that takes 10 ns a thread.
void countRange(std::uint64_t threads);
