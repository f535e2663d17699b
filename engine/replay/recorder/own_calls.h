/// Tells our calls of the driver from the program's.
#pragma once

namespace kernelskill::engine::replay {

/// While one lives, the calls of its thread are ours: they neither wait nor count as the program's.
class OwnCalls {
public:
    OwnCalls() { ++depth; }
    OwnCalls(const OwnCalls&) = delete;
    OwnCalls& operator=(const OwnCalls&) = delete;
    ~OwnCalls() { --depth; }
    /// Whether the calling thread's calls are ours.
    [[nodiscard]] static bool areMade() { return depth > 0; }

private:
    // CUPTI's callbacks carry nothing of the thread that makes the call.
    static inline thread_local int depth = 0;
};

} // namespace kernelskill::engine::replay
