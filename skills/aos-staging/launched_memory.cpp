#include "skills/aos-staging/launched_memory.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "skills/aos-staging/staging_plan.h"
#include "skills/base/gates.h"
#include "skills/editing/operand_text.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

const Expr& blockOf(const SkillContext& context, const LaunchSite& launch) {
    return context.file.hostFunctions[launch.host].body.expr(launch.block);
}

/// `<<<grid, threads>>>`, with a number of threads as it is written.
bool isPlain(const SkillContext& context, const LaunchSite& launch) {
    if (launch.host >= context.file.hostFunctions.size() || launch.block == noId ||
        launch.sharedBytes != noId || launch.stream != noId)
        return false;
    const Expr& block = blockOf(context, launch);
    const std::string_view text = context.file.source->slice(block.span);
    return isIndexType(block.type) && launch.configurationSpan.contains(block.span) &&
           (!block.fromMacro || lex(text).size() == 1) &&
           context.file.source->slice(launch.configurationSpan).ends_with(">>>");
}

} // namespace

Gated<void> requireStatedMemory(const SkillContext& context, const RecordArray& array) {
    const KernelModel& kernel = context.kernel;
    KERNELSKILL_CHECK(requireFollowableLaunches(context));
    if (kernel.launches.empty())
        return refuse("no-launch", fmt::format("no launch of {} in this file says how large its "
                                               "blocks are",
                                               kernel.name));
    for (const LaunchSite& launch : kernel.launches)
        if (!isPlain(context, launch))
            return refuse("unknown-block",
                          fmt::format("the launch on {} does not show the size of its block, or "
                                      "states its shared memory itself",
                                      placeOf(context, launch)));
    std::int64_t bytes =
        array.pitch() * array.wordBytes * kernel.launchBoundsThreads.value_or(maxBlockThreads);
    for (const SharedArray& shared : kernel.sharedArrays) {
        if (shared.isDynamic)
            return refuse(
                "unknown-block",
                fmt::format("{} uses the shared memory that launches state", kernel.name));
        bytes += static_cast<std::int64_t>(shared.bytes);
    }
    return requireSharedMemory(context, bytes);
}

std::vector<TextEdit> statedMemory(const SkillContext& context, std::int64_t pitch,
                                   const std::string& wordType) {
    std::vector<TextEdit> edits;
    const SourceText& source = *context.file.source;
    for (const LaunchSite& launch : context.kernel.launches) {
        const Expr& block = blockOf(context, launch);
        std::uint32_t at = launch.configurationSpan.end - 3;
        while (at > block.span.end && source.text()[at - 1] == ' ')
            --at;
        edits.push_back(
            {{at, at},
             fmt::format(", {} * {} * sizeof({})", pitch, besideProduct(source, block), wordType)});
    }
    return edits;
}

} // namespace kernelskill::skills
