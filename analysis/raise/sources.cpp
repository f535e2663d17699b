#include "analysis/raise/sources.h"

#include <algorithm>

namespace kernelskill::analysis::raise {

void addSources(Computation& computation, const Computation& other) {
    for (const std::string& source : other.sources)
        if (std::ranges::find(computation.sources, source) == computation.sources.end())
            computation.sources.push_back(source);
}

} // namespace kernelskill::analysis::raise
