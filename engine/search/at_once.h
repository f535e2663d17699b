/// Work that several threads share.
#pragma once

#include <cstddef>
#include <functional>

namespace kernelskill::engine {

/// Calls `work` with each index below `count`, in order, by at most `threads` threads at once. The
/// caller's is one of them. Returns when all calls have returned.
void atOnce(std::size_t threads, std::size_t count, const std::function<void(std::size_t)>& work);

} // namespace kernelskill::engine
