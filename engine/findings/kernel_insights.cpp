#include "engine/findings/kernel_insights.h"

#include "engine/findings/measured_profiles.h"
#include "engine/inputs/launch_inference.h"
#include "engine/inputs/trial.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine {
namespace {

/// A few open files' worth of kernels.
constexpr std::size_t maxKnownKernels = 512;

} // namespace

// Everything is worked out without the lock: two threads that ask at once both do it, and get the
// same.

KernelInsights::Known& KernelInsights::known(const ProgramSource& program,
                                             const analysis::KernelModel& kernel) {
    // The latest model is asked for most, and its kernels are at the end.
    auto found = std::find_if(known_.rbegin(), known_.rend(), [&](const Known& entry) {
        return entry.span == kernel.span && entry.model.lock() == program.model &&
               entry.kernel == kernel.qualifiedName;
    });
    auto captures = capturesOf(program.captures);
    if (found != known_.rend() && found->captures == captures)
        return *found;
    if (found != known_.rend()) { // What follows from launches is worked out anew.
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
    return known_.emplace_back(Known{program.model,
                                     kernel.qualifiedName,
                                     kernel.span,
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
std::shared_ptr<const Value>
KernelInsights::find(std::shared_ptr<const Value> Known::* member, const ProgramSource& program,
                     const analysis::KernelModel& kernel, const Make& make) {
    {
        std::scoped_lock lock(mutex_);
        if (auto value = known(program, kernel).*member)
            return value;
    }
    auto value = std::make_shared<const Value>(make());
    std::scoped_lock lock(mutex_);
    return known(program, kernel).*member = std::move(value);
}

std::shared_ptr<const analysis::Features>
KernelInsights::features(const ProgramSource& program, const analysis::KernelModel& kernel) {
    return find(&Known::features, program, kernel,
                [&] { return analysis::extractFeatures(kernel); });
}

std::shared_ptr<const KernelInsights::Launches>
KernelInsights::launches(const ProgramSource& program, const analysis::KernelModel& kernel) {
    return find(&Known::launches, program, kernel, [&] {
        return inferLaunches(*program.model, kernel, LaunchTarget::Emulator,
                             *capturesOf(program.captures));
    });
}

std::shared_ptr<const Result<LaunchSpec>>
KernelInsights::gpuLaunch(const ProgramSource& program, const analysis::KernelModel& kernel) {
    return find(&Known::gpuLaunch, program, kernel, [&]() -> Result<LaunchSpec> {
        const auto launches =
            inferLaunches(*program.model, kernel, LaunchTarget::Gpu, *capturesOf(program.captures));
        if (!launches)
            return std::unexpected(launches.error());
        return measurableLaunch({*program.model, kernel}, launches->front());
    });
}

std::optional<ProfileKey> KernelInsights::measuredKey(const ProgramSource& program,
                                                      const analysis::KernelModel& kernel) {
    const auto launch = gpuLaunch(program, kernel);
    if (!*launch)
        return std::nullopt;
    return *find(&Known::measuredKey, program, kernel,
                 [&] { return launchKey(key(program, kernel), **launch); });
}

ProfileKey KernelInsights::key(const ProgramSource& program, const analysis::KernelModel& kernel) {
    return *find(&Known::key, program, kernel, [&] { return profileKey(program, kernel); });
}

ProfileKey KernelInsights::refreshedKey(const ProgramSource& program,
                                        const analysis::KernelModel& kernel) {
    auto key = std::make_shared<const ProfileKey>(profileKey(program, kernel));
    std::scoped_lock lock(mutex_);
    Known& entry = known(program, kernel);
    entry.key = key;
    entry.measuredKey.reset(); // made from it
    return *key;
}

std::shared_ptr<const Bottleneck> KernelInsights::diagnosis(const ProgramSource& program,
                                                            const analysis::KernelModel& kernel,
                                                            const KernelFindings& findings,
                                                            const Gpu& gpu) {
    {
        std::scoped_lock lock(mutex_);
        const Known& entry = known(program, kernel);
        if (entry.bottleneck && entry.diagnosed.profile == findings.profile &&
            entry.diagnosed.facts == findings.facts)
            return entry.bottleneck;
    }
    const auto extracted = features(program, kernel);
    const auto inferred = launches(program, kernel);
    const bool hasLaunch = *inferred && !(*inferred)->empty();
    const bool hasFacts = findings.facts != nullptr && *findings.facts;
    auto bottleneck = std::make_shared<const Bottleneck>(
        diagnose({.kernel = kernel,
                  .features = *extracted,
                  .gpu = gpu,
                  .profile = findings.profile.get(),
                  .launch = hasLaunch ? &(*inferred)->front() : nullptr,
                  .facts = hasFacts ? &**findings.facts : nullptr,
                  .source = kernel.file == program.file ? program.model->source.get() : nullptr,
                  .file = program.model.get()}));
    std::scoped_lock lock(mutex_);
    Known& entry = known(program, kernel);
    entry.diagnosed = findings;
    return entry.bottleneck = std::move(bottleneck);
}

} // namespace kernelskill::engine
