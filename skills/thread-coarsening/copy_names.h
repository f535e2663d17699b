/// Names for the copies of a kernel's locals.
#pragma once

#include "skills/thread-coarsening/coarsening_plan.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::skills {

/// No two of them are the same, nor one that the kernel has.
class CopyNames {
public:
    CopyNames(const CoarseningPlan& plan, const RowCount& count);

    /// `sum2` for the local `sum` of the third row.
    [[nodiscard]] const std::string& of(analysis::VariableId local, int row) const;
    /// `in3` for the fourth value that is loaded of `in`.
    [[nodiscard]] const std::string& of(std::size_t value) const { return values_.at(value); }

private:
    [[nodiscard]] std::string fresh(const std::string& wanted);

    const analysis::FunctionBody& body_;
    std::map<std::pair<analysis::VariableId, int>, std::string> locals_;
    std::vector<std::string> values_;
    std::vector<std::string> taken_;
};

} // namespace kernelskill::skills
