#include "engine/review/review_images.h"

#include "engine/comparison/float64_reference.h"

#include <future>
#include <utility>

namespace kernelskill::engine {
namespace {

/// A kernel in float64.
struct WideImage {
    ImagePointer image;
    bool isWhole = false; ///< All of its functions compute in float64.
};

/// Builds `subject` in float64. The `what` of an error is the note with the reason.
Result<WideImage> buildWide(Executor& executor, const analysis::Toolchain& toolchain,
                            KernelRef subject, const LaunchSpec& subjectsLaunch,
                            const std::stop_token& stop) {
    auto program = doublePrecisionProgram(subject, toolchain);
    if (!program)
        return std::unexpected(program.error());
    program->watched.clear(); // Their places are those of another text.
    program->followsLocals = false;
    auto launch = withDoubleArguments({subject.file(), subject.kernel}, subjectsLaunch);
    if (!launch)
        return std::unexpected(launch.error());
    const auto* kernel = analysis::kernelNamed(*program->model, subject.kernel.qualifiedName);
    auto image = executor.build({*program, *kernel}, *launch, stop);
    if (!image)
        return std::unexpected(
            Error{ErrorKind::Failed, "its double-precision form does not compile", "", ""});
    return WideImage{std::move(*image), !callsFloatFunction(*program)};
}

struct WatchedImage {
    Result<ImagePointer> image;
    bool lostConditions = false;
};

WatchedImage buildWatched(Executor& executor, KernelRef subject, const LaunchSpec& launch,
                          const std::stop_token& stop) {
    auto image = executor.build(subject, launch, stop);
    const bool isPlain = subject.program.watched.empty() && !subject.program.followsLocals;
    if (image || isPlain || stop.stop_requested())
        return {std::move(image)};
    // Marks and rooms around arrays are written into the text, of which they may make no program.
    ProgramSource plain = subject.program;
    plain.watched.clear();
    plain.followsLocals = false;
    auto other = executor.build({plain, subject.kernel}, launch, stop);
    const bool isBuilt = other.has_value();
    return {std::move(other), isBuilt};
}

} // namespace

ReviewImages buildImages(Executor& executor, const analysis::Toolchain& toolchain, KernelPair pair,
                         const Trial& trial, skills::Numerics numerics,
                         const std::stop_token& stop) {
    auto ahead = std::async(std::launch::async, [&] {
        return buildWatched(executor, pair.candidate, trial.candidate, stop);
    });
    const bool isRounded = numerics != skills::Numerics::Exact;
    auto wide = [&](KernelRef subject, const LaunchSpec& launch) {
        return isRounded ? buildWide(executor, toolchain, subject, launch, stop)
                         : Result<WideImage>();
    };
    auto beside =
        std::async(std::launch::async, [&] { return wide(pair.original, trial.original); });
    auto besideCandidate =
        std::async(std::launch::async, [&] { return wide(pair.candidate, trial.candidate); });
    auto own = buildWatched(executor, pair.original, trial.original, stop);
    auto other = ahead.get();
    ReviewImages images{std::move(own.image),
                        std::move(other.image),
                        nullptr,
                        "",
                        nullptr,
                        own.lostConditions || other.lostConditions};
    auto reference = beside.get();
    auto wideCandidate = besideCandidate.get();
    if (!reference) {
        images.referenceNote = reference.error().what;
        return images;
    }
    images.reference = std::move(reference->image);
    if (wideCandidate && reference->isWhole && wideCandidate->isWhole)
        images.wideCandidate = std::move(wideCandidate->image);
    return images;
}

} // namespace kernelskill::engine
