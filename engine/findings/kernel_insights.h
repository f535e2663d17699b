/// A cache of everything that is derived from the models of kernels, because some of it is needed
/// on each cursor move.
#pragma once

#include "analysis/features/features.h"
#include "engine/capture/capture_store.h"
#include "engine/diagnosis/bottleneck.h"
#include "engine/findings/plain_form.h"
#include "engine/findings/prepared_offers.h"
#include "engine/findings/profile_cache.h"

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {

class LaunchSource;

/// Each answer is computed at the first call for a kernel of a model. Thread-safe.
class KernelInsights {
public:
    using Launches = Result<std::vector<LaunchSpec>>;

    /// Calls analysis::extractFeatures().
    [[nodiscard]] std::shared_ptr<const analysis::Features> features(KernelRef kernel);
    /// Calls inferLaunches().
    [[nodiscard]] std::shared_ptr<const Launches> launches(KernelRef kernel);
    /// The launch to measure: the first of inferLaunches() for a GPU, made large enough for a GPU.
    [[nodiscard]] std::shared_ptr<const Result<LaunchSpec>> gpuLaunch(KernelRef kernel);
    /// Calls profileKey(). Headers on disk are read at the first call only, because a model is as
    /// old as they are.
    [[nodiscard]] ProfileKey key(KernelRef kernel);
    /// Computes the key anew, for a run that reads the headers as they are now.
    [[nodiscard]] ProfileKey refreshedKey(KernelRef kernel);
    /// launchKey() for key() and gpuLaunch(); nullopt if the kernel cannot be launched.
    [[nodiscard]] std::optional<ProfileKey> measuredKey(KernelRef kernel);
    /// Calls scannedProgram().
    [[nodiscard]] std::shared_ptr<const ScannedProgram>
    scanned(const ProgramSource& program, const std::filesystem::path& preludeInclude);
    /// Calls diagnose() with `findings`, which may be empty. The same findings must always come
    /// with the same `gpu`.
    [[nodiscard]] std::shared_ptr<const Bottleneck>
    diagnosis(KernelRef kernel, const KernelFindings& findings, const Gpu& gpu);
    /// The kept answers of the skills about the kernel for these facts of the compiler. They begin
    /// empty when the facts change. The skills outlive this object.
    [[nodiscard]] std::shared_ptr<PreparedOffers> prepared(KernelRef kernel,
                                                           PreparedOffers::Compiled compiled);
    /// Calls plainOffersOf() with the skills, which are the same at each call.
    [[nodiscard]] std::shared_ptr<const PlainOffers>
    plainOffers(KernelRef kernel, const std::vector<std::unique_ptr<skills::Skill>>& skills,
                const analysis::Toolchain& toolchain);

private:
    struct Known {
        /// The captures that the other members were computed with.
        std::shared_ptr<const StoredCaptures> captures;
        std::shared_ptr<const ProfileKey> key;
        std::shared_ptr<const analysis::Features> features;
        std::shared_ptr<const Launches> launches;
        std::shared_ptr<const Result<LaunchSpec>> gpuLaunch;
        std::shared_ptr<const ProfileKey> measuredKey;
        std::shared_ptr<PreparedOffers> prepared;
        std::shared_ptr<const PlainOffers> plainOffers;
        std::shared_ptr<const Bottleneck> bottleneck;
        KernelFindings diagnosed; ///< The findings from which `bottleneck` was computed.
    };
    /// Overloads share a name and differ in their spans.
    using KernelName = std::pair<analysis::Span, std::string>;
    struct KnownModel {
        std::weak_ptr<const analysis::FileModel> model;
        std::shared_ptr<const LaunchSource> source;
        std::shared_ptr<const ProfileKeys> keys;
        std::shared_ptr<const ScannedProgram> scanned;
        std::map<KernelName, Known> kernels;
    };
    /// The entry of a model or a kernel; adds one if there is none. The caller holds the mutex.
    [[nodiscard]] KnownModel& known(const ProgramSource& program);
    [[nodiscard]] Known& known(KernelRef kernel);
    /// What the kernels of a file share.
    template <typename Value, typename Make>
    std::shared_ptr<const Value> shared(std::shared_ptr<const Value> KnownModel::* member,
                                        const ProgramSource& program, const Make& make);
    [[nodiscard]] std::shared_ptr<const LaunchSource> source(const ProgramSource& program);
    [[nodiscard]] std::shared_ptr<const ProfileKeys> keys(const ProgramSource& program);
    /// The `member` of a kernel's entry. If it is null, `make` computes it without holding the
    /// lock.
    template <typename Value, typename Make>
    std::shared_ptr<const Value> find(std::shared_ptr<const Value> Known::* member,
                                      KernelRef kernel, const Make& make);

    std::mutex mutex_;
    std::list<KnownModel> models_; ///< Oldest first.
};

} // namespace kernelskill::engine
