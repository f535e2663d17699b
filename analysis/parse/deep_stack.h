/// Threads with stacks on which libclang may recurse as deep as a user's text makes it.
#pragma once

#include <functional>

namespace kernelskill::analysis {

/// Makes libclang parse on the caller's thread. Otherwise it parses on threads of its own with
/// stacks of 8 MiB, which some 4,000 nested operators overflow. Call it once, before the process
/// starts its first thread.
void parseOnOwnThreads();

/// Runs `task` to its end on a new thread with a stack of 256 MiB, of which only what is touched
/// takes memory. An exception of `task` is thrown again here. If libclang overflows that stack
/// while it parses, its crash recovery ends the parse with CXError_Crashed.
void runOnDeepStack(const std::function<void()>& task);

} // namespace kernelskill::analysis
