#include "engine/profile_keys.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine {
namespace {

/// A few open files' worth of kernels.
constexpr std::size_t mostKeys = 512;

} // namespace

ProfileKeys::Known* ProfileKeys::known(const ProgramSource& program,
                                       const analysis::KernelModel& kernel) {
    // The latest model is asked for most, and its keys are at the end.
    auto found = std::find_if(known_.rbegin(), known_.rend(), [&](const Known& entry) {
        return entry.span == kernel.span && entry.model.lock() == program.model &&
               entry.kernel == kernel.qualifiedName;
    });
    return found == known_.rend() ? nullptr : &*found;
}

ProfileKey ProfileKeys::find(const ProgramSource& program, const analysis::KernelModel& kernel) {
    {
        std::scoped_lock lock(mutex_);
        if (const Known* entry = known(program, kernel))
            return entry->key;
    }
    return refresh(program, kernel);
}

ProfileKey ProfileKeys::refresh(const ProgramSource& program, const analysis::KernelModel& kernel) {
    ProfileKey key = profileKey(program, kernel);
    std::scoped_lock lock(mutex_);
    if (Known* entry = known(program, kernel)) {
        entry->key = key;
        return key;
    }
    std::erase_if(known_, [](const Known& entry) { return entry.model.expired(); });
    if (known_.size() == mostKeys)
        known_.pop_front();
    known_.push_back({program.model, kernel.qualifiedName, kernel.span, key});
    return key;
}

} // namespace kernelskill::engine
