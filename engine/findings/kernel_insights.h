/// What was worked out about the kernels of the models in use, so that the paths that run on each
/// cursor move do not work it out again.
#pragma once

#include "analysis/features/features.h"
#include "engine/capture/capture_store.h"
#include "engine/diagnosis/bottleneck.h"
#include "engine/findings/profile_cache.h"

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Each answer is worked out at the first call for a kernel of a model. Thread-safe.
class KernelInsights {
public:
    using Launches = Result<std::vector<LaunchSpec>>;

    /// analysis::extractFeatures()
    [[nodiscard]] std::shared_ptr<const analysis::Features> features(KernelRef kernel);
    /// inferLaunches()
    [[nodiscard]] std::shared_ptr<const Launches> launches(KernelRef kernel);
    /// The launch to measure: of inferLaunches() for a GPU the first, made large enough for one.
    [[nodiscard]] std::shared_ptr<const Result<LaunchSpec>> gpuLaunch(KernelRef kernel);
    /// profileKey(). Headers on disk are looked at only at the first call: a model is as old as
    /// they are.
    [[nodiscard]] ProfileKey key(KernelRef kernel);
    /// Computed afresh, for a run that reads the headers as they are now.
    [[nodiscard]] ProfileKey refreshedKey(KernelRef kernel);
    /// launchKey() of key() and gpuLaunch(); nullopt where the kernel cannot be launched.
    [[nodiscard]] std::optional<ProfileKey> measuredKey(KernelRef kernel);
    /// diagnose() with what `findings` hold, which may be nothing; for the same findings always
    /// with the same `gpu`.
    [[nodiscard]] std::shared_ptr<const Bottleneck>
    diagnosis(KernelRef kernel, const KernelFindings& findings, const Gpu& gpu);

private:
    struct Known {
        std::weak_ptr<const analysis::FileModel> model;
        std::string kernel; ///< Qualified name; overloads differ in their place.
        analysis::Span span;
        std::shared_ptr<const StoredCaptures> captures; ///< That the rest was worked out with.
        std::shared_ptr<const ProfileKey> key;
        std::shared_ptr<const analysis::Features> features;
        std::shared_ptr<const Launches> launches;
        std::shared_ptr<const Result<LaunchSpec>> gpuLaunch;
        std::shared_ptr<const ProfileKey> measuredKey;
        std::shared_ptr<const Bottleneck> bottleneck;
        KernelFindings diagnosed; ///< What `bottleneck` was made from.
    };
    /// The entry of a kernel, new if need be. The mutex is held.
    [[nodiscard]] Known& known(KernelRef kernel);
    /// The `member` of a kernel's entry; made by `make`, which the lock does not cover, if it is
    /// null.
    template <typename Value, typename Make>
    std::shared_ptr<const Value> find(std::shared_ptr<const Value> Known::* member,
                                      KernelRef kernel, const Make& make);

    std::mutex mutex_;
    std::deque<Known> known_; ///< Oldest first.
};

} // namespace kernelskill::engine
