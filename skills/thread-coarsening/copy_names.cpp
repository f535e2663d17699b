#include "skills/thread-coarsening/copy_names.h"

#include "analysis/queries/code_map.h"

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

CopyNames::CopyNames(const CoarseningPlan& plan, const RowCount& count) : body_(plan.inner.body) {
    for (const VariableId local : plan.varying)
        for (int row = 0; row < count.rows; ++row)
            locals_[{local, row}] = fresh(body_.variable(local).name + std::to_string(row));
    std::map<std::string, int> counts;
    for (const LoadedValue& value : count.loads.values) {
        std::string wanted = value.base + std::to_string(counts[value.base]++);
        values_.push_back(fresh(wanted));
    }
}

const std::string& CopyNames::of(VariableId local, int row) const {
    return locals_.at({local, row});
}

std::string CopyNames::fresh(const std::string& wanted) {
    const auto isTaken = [&](const std::string& name) {
        return !isNameFree(body_, name) || std::ranges::find(taken_, name) != taken_.end();
    };
    std::string name = wanted;
    for (int number = 2; isTaken(name); ++number)
        name = wanted + "_" + std::to_string(number);
    taken_.push_back(name);
    return name;
}

} // namespace kernelskill::skills
