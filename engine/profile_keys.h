/// Keys of profiles for the models in use, so that the paths that run on each cursor move do not
/// lex the file again.
#pragma once

#include "engine/profile_cache.h"

#include <deque>
#include <mutex>

namespace kernelskill::engine {

/// Thread-safe.
class ProfileKeys {
public:
    /// profileKey(), computed once for a kernel of a model. Headers on disk are looked at only
    /// then: a model is as old as they are.
    [[nodiscard]] ProfileKey find(const ProgramSource& program,
                                  const analysis::KernelModel& kernel);
    /// Computed afresh, for a run that reads the headers as they are now.
    [[nodiscard]] ProfileKey refresh(const ProgramSource& program,
                                     const analysis::KernelModel& kernel);

private:
    struct Known {
        std::weak_ptr<const analysis::FileModel> model;
        std::string kernel; ///< Qualified name; overloads differ in their place.
        analysis::Span span;
        ProfileKey key;
    };
    /// The mutex is held.
    [[nodiscard]] Known* known(const ProgramSource& program, const analysis::KernelModel& kernel);

    std::mutex mutex_;
    std::deque<Known> known_; ///< Oldest first.
};

} // namespace kernelskill::engine
