#include "skills/warp-scan/unrolled_writer.h"

#include "analysis/queries/source_layout.h"
#include "analysis/source/gpu_constants.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/fresh_names.h"
#include "skills/warp-scan/warp_steps.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

std::vector<TextEdit> unrolledEdits(const SkillContext& function, const UnrolledScan& scan) {
    const FunctionBody& body = function.kernel.body;
    const SourceText& source = *function.file.source;
    const SourceLayout layout(source, function.kernel);
    const Span steps{body.stmt(scan.first).span.begin, body.stmt(scan.last).span.end};
    const std::string element(source.slice(body.expr(scan.element).span));
    FreshNames names(body);
    const std::string offset = names.add("offset");
    const std::string warp = names.add("warp");
    const std::string sum = names.add("sum");
    const std::string totals = names.add("warpSums");
    const std::string value = body.variable(scan.value).name;
    const std::string thread = "threadIdx.x";
    const std::int64_t warps = std::max<std::int64_t>(scan.largestBlock / warpLanes, 2);

    const std::string indentation = layout.indentation(steps.begin);
    CodeLines lines(layout, indentation);
    lines.add(
        "// Each warp scans its values in registers, then adds the sums of the warps before.");
    lines.add(fmt::format("__shared__ {} {}[{}];", scan.type, totals, warps));
    lines.add(fmt::format("{} {} = {};", scan.type, sum, element));
    addWarpSteps(lines, {.value = sum, .thread = thread, .offset = offset, .lower = value},
                 LowerName::Existing);
    lines.open(fmt::format("if ({} % {} == {})", thread, warpLanes, warpLanes - 1));
    lines.add(fmt::format("{}[{} / {}] = {};", totals, thread, warpLanes, sum));
    lines.leave();
    lines.add("__syncthreads();");
    // Loads that no counter decides about are under way together.
    lines.add("#pragma unroll");
    lines.open(fmt::format("for (unsigned {0} = 0; {0} < {1}; ++{0})", warp, warps - 1));
    lines.open(fmt::format("if ({} < {} / {})", warp, thread, warpLanes));
    lines.add(fmt::format("{} += {}[{}];", sum, totals, warp));
    lines.leave().leave();
    lines.add(fmt::format("{} = {};", element, sum));
    lines.add("__syncthreads();");

    std::string text = lines.text().substr(indentation.size());
    text.resize(text.size() - layout.newline().size());
    return {{steps, std::move(text)}};
}

} // namespace kernelskill::skills
