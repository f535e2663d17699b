#include "engine/review/review_images.h"

#include "engine/comparison/float64_reference.h"

#include <future>
#include <utility>

namespace kernelskill::engine {
namespace {

/// Builds the float64 reference. An error's `what` is the note with the reason.
Result<ImagePointer> buildReference(Executor& executor, const analysis::Toolchain& toolchain,
                                    KernelRef original, const Trial& trial,
                                    const std::stop_token& stop) {
    auto program = doublePrecisionProgram(original, toolchain);
    if (!program)
        return std::unexpected(program.error());
    program->watched.clear(); // Their places are those of another text.
    auto launch = withDoubleArguments({original.file(), original.kernel}, trial.original);
    if (!launch)
        return std::unexpected(launch.error());
    const auto* kernel = analysis::kernelNamed(*program->model, original.kernel.qualifiedName);
    auto image = executor.build({*program, *kernel}, *launch, stop);
    if (!image)
        return std::unexpected(
            Error{ErrorKind::Failed, "its double-precision form does not compile", "", ""});
    return image;
}

struct WatchedImage {
    Result<ImagePointer> image;
    bool lostConditions = false;
};

WatchedImage buildWatched(Executor& executor, KernelRef subject, const LaunchSpec& launch,
                          const std::stop_token& stop) {
    auto image = executor.build(subject, launch, stop);
    if (image || subject.program.watched.empty() || stop.stop_requested())
        return {std::move(image)};
    ProgramSource plain = subject.program;
    plain.watched.clear();
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
    auto beside = std::async(std::launch::async, [&]() -> Result<ImagePointer> {
        if (numerics == skills::Numerics::Exact)
            return ImagePointer{};
        return buildReference(executor, toolchain, pair.original, trial, stop);
    });
    auto own = buildWatched(executor, pair.original, trial.original, stop);
    auto other = ahead.get();
    ReviewImages images{std::move(own.image), std::move(other.image), nullptr, "",
                        own.lostConditions || other.lostConditions};
    auto reference = beside.get();
    if (reference)
        images.reference = std::move(*reference);
    else
        images.referenceNote = reference.error().what;
    return images;
}

} // namespace kernelskill::engine
