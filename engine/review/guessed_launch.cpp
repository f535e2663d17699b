#include "engine/review/guessed_launch.h"

#include "engine/execution/emulator/pin_example.h"

#include <spdlog/fmt/fmt.h>

#include <utility>

namespace kernelskill::engine {

CheckResult withoutBlameForGuess(CheckResult result, const LaunchSpec& launch) {
    if (result || !result.error().isAboutEdit || !launch.isShapeGuessed)
        return result;
    FailedCheck& failed = result.error();
    failed.status = VerdictStatus::Invalid;
    failed.isAboutEdit = false;
    // A run that failed names the guess itself.
    if (!failed.detail.contains("guessed launch"))
        failed.detail =
            fmt::format("with a guessed launch, which may be at fault: {}; pin the launch that the "
                        "program makes, such as `// {}`",
                        failed.detail, emulator::pinExample(launch));
    return result;
}

} // namespace kernelskill::engine
