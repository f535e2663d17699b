#include "engine/verdict/check_result.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::engine {

void refuse(Verdict& verdict, FailedCheck failed) {
    verdict.status = failed.status;
    verdict.isAboutEdit = failed.isAboutEdit;
    verdict.summary = fmt::format("{}: check \"{}\" failed: {}", spelling(failed.status),
                                  failed.name, failed.detail);
    verdict.checks.push_back({std::move(failed.name), false, std::move(failed.detail)});
    if (failed.isAboutEdit)
        verdict.failure = std::make_shared<const ReviewFailure>(std::move(failed.seen));
}

} // namespace kernelskill::engine
