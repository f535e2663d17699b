#include "engine/findings/kernel_insights.h"

#include "engine/findings/measured_profiles.h"
#include "engine/inputs/launch_inference.h"
#include "engine/inputs/trial.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine {
namespace {

/// As many kernels as a few open files have.
constexpr std::size_t maxKnownKernels = 512;

} // namespace

// Everything is computed without the lock: two threads that ask at once both compute it, with the
// same result.

KernelInsights::Known& KernelInsights::known(KernelRef kernel) {
    // The latest model is asked for most often, and its kernels are at the end.
    auto found = std::find_if(known_.rbegin(), known_.rend(), [&](const Known& entry) {
        return entry.span == kernel.kernel.span && entry.model.lock() == kernel.program.model &&
               entry.kernel == kernel.kernel.qualifiedName;
    });
    auto captures = capturesOf(kernel.program.captures);
    if (found != known_.rend() && found->captures == captures)
        return *found;
    if (found != known_.rend()) { // Discard what was computed from other launches.
        *found = Known{found->model,
                       found->kernel,
                       found->span,
                       std::move(captures),
                       {},
                       found->features,
                       {},
                       {},
                       {},
                       {},
                       {}};
        return *found;
    }
    std::erase_if(known_, [](const Known& entry) { return entry.model.expired(); });
    if (known_.size() == maxKnownKernels)
        known_.pop_front();
    return known_.emplace_back(Known{kernel.program.model,
                                     kernel.kernel.qualifiedName,
                                     kernel.kernel.span,
                                     std::move(captures),
                                     {},
                                     {},
                                     {},
                                     {},
                                     {},
                                     {},
                                     {}});
}

template <typename Value, typename Make>
std::shared_ptr<const Value> KernelInsights::find(std::shared_ptr<const Value> Known::* member,
                                                  KernelRef kernel, const Make& make) {
    {
        std::scoped_lock lock(mutex_);
        if (auto value = known(kernel).*member)
            return value;
    }
    auto value = std::make_shared<const Value>(make());
    std::scoped_lock lock(mutex_);
    return known(kernel).*member = std::move(value);
}

std::shared_ptr<const analysis::Features> KernelInsights::features(KernelRef kernel) {
    return find(&Known::features, kernel, [&] { return analysis::extractFeatures(kernel.kernel); });
}

std::shared_ptr<const KernelInsights::Launches> KernelInsights::launches(KernelRef kernel) {
    return find(&Known::launches, kernel, [&] {
        return inferLaunches(kernel.file(), kernel.kernel, LaunchTarget::Emulator,
                             *capturesOf(kernel.program.captures));
    });
}

std::shared_ptr<const Result<LaunchSpec>> KernelInsights::gpuLaunch(KernelRef kernel) {
    return find(&Known::gpuLaunch, kernel, [&]() -> Result<LaunchSpec> {
        const auto launches = inferLaunches(kernel.file(), kernel.kernel, LaunchTarget::Gpu,
                                            *capturesOf(kernel.program.captures));
        if (!launches)
            return std::unexpected(launches.error());
        return measurableLaunch({kernel.file(), kernel.kernel}, launches->front());
    });
}

std::optional<ProfileKey> KernelInsights::measuredKey(KernelRef kernel) {
    const auto launch = gpuLaunch(kernel);
    if (!*launch)
        return std::nullopt;
    return *find(&Known::measuredKey, kernel, [&] { return launchKey(key(kernel), **launch); });
}

ProfileKey KernelInsights::key(KernelRef kernel) {
    return *find(&Known::key, kernel, [&] { return profileKey(kernel); });
}

ProfileKey KernelInsights::refreshedKey(KernelRef kernel) {
    auto key = std::make_shared<const ProfileKey>(profileKey(kernel));
    std::scoped_lock lock(mutex_);
    Known& entry = known(kernel);
    entry.key = key;
    entry.measuredKey.reset(); // It was computed from the old key.
    return *key;
}

std::shared_ptr<const Bottleneck>
KernelInsights::diagnosis(KernelRef kernel, const KernelFindings& findings, const Gpu& gpu) {
    {
        std::scoped_lock lock(mutex_);
        const Known& entry = known(kernel);
        if (entry.bottleneck && entry.diagnosed.profile == findings.profile &&
            entry.diagnosed.facts == findings.facts)
            return entry.bottleneck;
    }
    const auto extracted = features(kernel);
    const auto inferred = launches(kernel);
    const bool hasLaunch = *inferred && !(*inferred)->empty();
    const bool hasFacts = findings.facts != nullptr && *findings.facts;
    auto bottleneck = std::make_shared<const Bottleneck>(diagnose(
        {.kernel = kernel.kernel,
         .features = *extracted,
         .gpu = gpu,
         .profile = findings.profile.get(),
         .launch = hasLaunch ? &(*inferred)->front() : nullptr,
         .facts = hasFacts ? &**findings.facts : nullptr,
         .source = kernel.kernel.file == kernel.program.file ? kernel.program.model->source.get()
                                                             : nullptr,
         .file = kernel.program.model.get()}));
    std::scoped_lock lock(mutex_);
    Known& entry = known(kernel);
    entry.diagnosed = findings;
    return entry.bottleneck = std::move(bottleneck);
}

} // namespace kernelskill::engine
