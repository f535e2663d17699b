#include "engine/findings/kernel_insights.h"

#include "engine/diagnosis/stated_launch.h"
#include "engine/findings/measured_profiles.h"
#include "engine/inputs/launch_inference.h"
#include "engine/inputs/launch_source.h"
#include "engine/inputs/trial.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine {
namespace {

/// As many as a few open files and the drafts of a search have.
constexpr std::size_t maxKnownModels = 64;

} // namespace

// Everything is computed without the lock: two threads that ask at once both compute it, with the
// same result.

KernelInsights::KnownModel& KernelInsights::known(const ProgramSource& program) {
    // The latest model is asked for most often, and it is at the end.
    const auto found = std::find_if(models_.rbegin(), models_.rend(), [&](const KnownModel& entry) {
        return entry.model.lock() == program.model;
    });
    if (found != models_.rend())
        return *found;
    std::erase_if(models_, [](const KnownModel& entry) { return entry.model.expired(); });
    if (models_.size() == maxKnownModels)
        models_.pop_front();
    return models_.emplace_back(KnownModel{program.model, {}, {}, {}, {}});
}

KernelInsights::Known& KernelInsights::known(KernelRef kernel) {
    auto captures = capturesOf(kernel.program.captures);
    Known& entry = known(kernel.program).kernels[{kernel.kernel.span, kernel.kernel.qualifiedName}];
    if (entry.captures != captures) { // Discard what was computed from other launches.
        auto features = std::move(entry.features);
        auto plainOffers = std::move(entry.plainOffers);
        entry = {};
        entry.features = std::move(features);
        entry.plainOffers = std::move(plainOffers);
        entry.captures = std::move(captures);
    }
    return entry;
}

template <typename Value, typename Make>
std::shared_ptr<const Value>
KernelInsights::shared(std::shared_ptr<const Value> KnownModel::* member,
                       const ProgramSource& program, const Make& make) {
    {
        std::scoped_lock lock(mutex_);
        if (auto value = known(program).*member)
            return value;
    }
    auto value = make();
    std::scoped_lock lock(mutex_);
    return known(program).*member = std::move(value);
}

std::shared_ptr<const LaunchSource> KernelInsights::source(const ProgramSource& program) {
    return shared(&KnownModel::source, program,
                  [&] { return std::make_shared<const LaunchSource>(*program.model); });
}

std::shared_ptr<const ProfileKeys> KernelInsights::keys(const ProgramSource& program) {
    return shared(&KnownModel::keys, program,
                  [&] { return std::make_shared<const ProfileKeys>(program); });
}

std::shared_ptr<const ScannedProgram>
KernelInsights::scanned(const ProgramSource& program, const std::filesystem::path& preludeInclude) {
    return shared(&KnownModel::scanned, program,
                  [&] { return scannedProgram(program, preludeInclude); });
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
        return inferLaunches(source(kernel.program), kernel.file(), kernel.kernel,
                             LaunchTarget::Emulator, *capturesOf(kernel.program.captures));
    });
}

std::shared_ptr<const Result<LaunchSpec>> KernelInsights::gpuLaunch(KernelRef kernel) {
    return find(&Known::gpuLaunch, kernel, [&]() -> Result<LaunchSpec> {
        const auto launches =
            inferLaunches(source(kernel.program), kernel.file(), kernel.kernel, LaunchTarget::Gpu,
                          *capturesOf(kernel.program.captures));
        if (!launches)
            return std::unexpected(launches.error());
        return measurableLaunch({kernel.file(), kernel.kernel}, launches->front(),
                                source(kernel.program));
    });
}

std::optional<ProfileKey> KernelInsights::measuredKey(KernelRef kernel) {
    const auto launch = gpuLaunch(kernel);
    if (!*launch)
        return std::nullopt;
    return *find(&Known::measuredKey, kernel, [&] { return launchKey(key(kernel), **launch); });
}

ProfileKey KernelInsights::key(KernelRef kernel) {
    return *find(&Known::key, kernel, [&] { return keys(kernel.program)->of(kernel); });
}

ProfileKey KernelInsights::refreshedKey(KernelRef kernel) {
    auto keys = std::make_shared<const ProfileKeys>(kernel.program);
    auto key = std::make_shared<const ProfileKey>(keys->of(kernel));
    std::scoped_lock lock(mutex_);
    known(kernel.program).keys = std::move(keys);
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
    const bool hasFacts = findings.facts != nullptr && *findings.facts;
    auto bottleneck = std::make_shared<const Bottleneck>(diagnose(
        {.kernel = kernel.kernel,
         .features = *extracted,
         .gpu = gpu,
         .profile = findings.profile.get(),
         .launch = *inferred ? statedLaunch(**inferred) : nullptr,
         .facts = hasFacts ? &**findings.facts : nullptr,
         .source = kernel.kernel.file == kernel.program.file ? kernel.program.model->source.get()
                                                             : nullptr,
         .file = kernel.program.model.get()}));
    std::scoped_lock lock(mutex_);
    Known& entry = known(kernel);
    entry.diagnosed = findings;
    return entry.bottleneck = std::move(bottleneck);
}

std::shared_ptr<PreparedOffers> KernelInsights::prepared(KernelRef kernel,
                                                         PreparedOffers::Compiled compiled) {
    const std::scoped_lock lock(mutex_);
    Known& entry = known(kernel);
    if (entry.prepared == nullptr || entry.prepared->compiled() != compiled)
        entry.prepared = std::make_shared<PreparedOffers>(std::move(compiled));
    return entry.prepared;
}

std::shared_ptr<const PlainOffers>
KernelInsights::plainOffers(KernelRef kernel,
                            const std::vector<std::unique_ptr<skills::Skill>>& skills,
                            const analysis::Toolchain& toolchain) {
    const auto known = features(kernel);
    return find(&Known::plainOffers, kernel,
                [&] { return plainOffersOf(kernel, *known, skills, toolchain); });
}

} // namespace kernelskill::engine
