#include "engine/review/host/host_steps.h"

#include <algorithm>
#include <string_view>

namespace kernelskill::engine {
namespace {

/// A pointer that came in; the user promised for `__restrict__` ones that no other leads there.
bool isParameter(std::string_view object) {
    return object.starts_with("argument:") || object.starts_with("restrict:");
}

/// The memory of such a step is not recorded: only its order is known.
bool touchesAny(const HostStep& step) {
    return step.kind == HostStepKind::Call || step.kind == HostStepKind::Host ||
           step.kind == HostStepKind::Record || !step.memory;
}

/// True if the two uses touch separate bytes of one object.
bool areOtherParts(const MemoryUse& first, const MemoryUse& second) {
    return !first.object.empty() && first.object == second.object && first.bytes && second.bytes &&
           analysis::areApart(*first.bytes, *second.bytes);
}

} // namespace

bool areDistinct(const std::string& object, const std::string& other) {
    if (object.empty() || other.empty() || object == other)
        return false;
    if (isParameter(object) && isParameter(other))
        return object.starts_with("restrict:") && other.starts_with("restrict:");
    return true;
}

bool areInConflict(const HostStep& a, const HostStep& b) {
    if (a.kind == HostStepKind::Read && b.kind == HostStepKind::Read)
        return false;
    if (touchesAny(a) || touchesAny(b))
        return true;
    return std::ranges::any_of(*a.memory, [&](const MemoryUse& first) {
        return std::ranges::any_of(*b.memory, [&](const MemoryUse& second) {
            return (first.isWritten || second.isWritten) &&
                   !areDistinct(first.object, second.object) && !areOtherParts(first, second);
        });
    });
}

} // namespace kernelskill::engine
