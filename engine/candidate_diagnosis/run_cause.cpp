#include "engine/candidate_diagnosis/run_cause.h"

#include "engine/candidate_diagnosis/hang_diagnoser.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace kernelskill::engine {
namespace {

/// An executor's message about the end of a run, and its meaning.
struct Ending {
    std::string_view words;
    const char* cause;
    const char* sentence;
    const char* invariant;
    const char* repair;
};

/// The first entry whose words are in the message applies.
constexpr std::array<Ending, 9> endings{{
    {"deadlock in block", "barrier-divergence",
     "threads wait at a barrier or a warp operation that others never reach",
     "every thread of a block reaches each barrier, or none does",
     "move the barrier out of the branch or loop that not all threads execute"},
    {"cut off after", "does-not-end", "it does not end",
     "every loop ends on the inputs on which the original ends",
     "change, inside the loop, a value that its condition reads"},
    {"out of bounds", "out-of-bounds", "a thread accesses memory outside every buffer",
     "every index stays within its buffer, whatever the size",
     "guard the access with the buffer's bound"},
    {"which is in no buffer", "out-of-bounds", "a thread accesses memory outside every buffer",
     "every index stays within its buffer, whatever the size",
     "guard the access with the buffer's bound"},
    {"CUDA_ERROR_ILLEGAL_ADDRESS", "out-of-bounds", "a thread accesses memory outside every buffer",
     "every index stays within its buffer, whatever the size",
     "guard the access with the buffer's bound"},
    {"of local memory", "local-memory", "a thread needs more local memory than it gets",
     "a thread's local arrays fit its stack", "move large arrays into shared or global memory"},
    {"bytes of dynamic shared memory", "launch-resources",
     "a block requests more resources than there are", "a block fits on a multiprocessor",
     "use less shared memory a block"},
    {"launch the kernel", "launch-resources", "a block requests more resources than there are",
     "a block fits on a multiprocessor",
     "use fewer registers (__launch_bounds__ with the block's threads) or a smaller block"},
    {"assertion failed", "assertion", "an assertion of the kernel does not hold",
     "the kernel's assertions hold", ""},
}};

} // namespace

CandidateDiagnosis runCause(const KernelVersion& after, const ReviewFailure& failure) {
    CandidateDiagnosis found;
    found.cause = "crash";
    found.sentence = "it does not end";
    found.invariant = "the kernel ends where the original ends";
    if (!failure.error)
        return found;
    const std::string message = failure.error->describe();
    const auto ending = std::ranges::find_if(
        endings, [&](const Ending& each) { return message.find(each.words) != std::string::npos; });
    if (ending != endings.end()) {
        found.cause = ending->cause;
        found.sentence = ending->sentence;
        found.invariant = ending->invariant;
        found.repair = ending->repair;
    }
    found.evidence.push_back(
        withHangDiagnosis(*after.program.model, after.kernel(), *failure.error).describe());
    if (failure.trial)
        found.evidence.push_back("seen at " + failure.trial->label);
    return found;
}

} // namespace kernelskill::engine
