#include "lsp-server/report/line_text.h"

#include "engine/execution/metric_names.h"
#include "lsp-server/report/access_cost.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::lsp {
namespace {

namespace names = engine::metric;

std::string perRequest(double count, std::string_view what, double requests) {
    return fmt::format("{} {} ({:.0f} requests)", formatNumber(count / requests), what, requests);
}

} // namespace

std::vector<std::string> lineCounts(const engine::Metrics& metrics) {
    const auto value = [&](const char* name) {
        const auto found = metrics.find(name);
        return found == metrics.end() ? 0 : found->second;
    };
    std::vector<std::string> counts;
    for (const names::AccessNames* access : names::accesses) {
        if (const double requests = value(access->globalRequests); requests > 0)
            counts.push_back(perRequest(value(access->globalSectors),
                                        fmt::format("sectors per global {}", access->word),
                                        requests));
        if (const double requests = value(access->sharedRequests); requests > 0)
            counts.push_back(perRequest(value(access->sharedWavefronts),
                                        fmt::format("wavefronts per shared {}", access->word),
                                        requests));
    }
    const double atomics = value(names::globalAtomicRequests) + value(names::sharedAtomicRequests);
    if (atomics > 0)
        counts.push_back(perRequest(value(names::atomicSerializations),
                                    "lanes on one address per atomic", atomics));
    if (const double targets = value(names::branchTargets); targets > 0)
        counts.push_back(fmt::format("{:.1f} % of {:.0f} branch targets divergent",
                                     100 * value(names::divergentBranchTargets) / targets,
                                     targets));
    if (const double operations = value(names::floatingOperations); operations > 0)
        counts.push_back(fmt::format("{:.0f} FLOP", operations));
    return counts;
}

} // namespace kernelskill::lsp
