#include "engine/search/optimization_search.h"

#include "engine/search/search_run.h"

#include <utility>

namespace kernelskill::engine {

Result<Optimization> OptimizationSearch::run(const KernelVersion& original, std::stop_token stop,
                                             const ProgressSink& progress) {
    return SearchRun(steps_, options_, original, std::move(stop), progress).run();
}

} // namespace kernelskill::engine
