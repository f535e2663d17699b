/// The loads that several rows have in common, and how they come to be made once.
#pragma once

#include "analysis/queries/code_map.h"
#include "skills/base/skill.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::skills {

/// One load of one row.
struct RowLoad {
    analysis::ExprId expr = analysis::noId;
    int row = 0; ///< 0 for the first of the thread's.
    auto operator<=>(const RowLoad&) const = default;
};

/// A value that is loaded once, ahead of the statement that needs it first.
struct LoadedValue {
    RowLoad load;     ///< One of those that it stands for, as text.
    std::string base; ///< The name of the array.
    std::string type;
};

struct SharedLoads {
    /// For all rows of a thread, each address of a row once; a load in a loop weighed by 16 rounds.
    double before = 0;
    double after = 0;
    bool wasCutOff = false; ///< A store stands between loads that may change what they load.
    std::vector<LoadedValue> values;
    std::map<RowLoad, std::size_t> valueOf;
    std::map<analysis::ExprId, analysis::Span> places; ///< The text of each of these loads.
    /// The values to load in front of a statement of the work.
    std::map<analysis::StmtId, std::vector<std::size_t>> loadedAt;
};

/// The statements of the work, and facts about them.
struct CopiedWork {
    const analysis::CodeMap& code; ///< The work of rows away from the edges.
    analysis::Symbol step;         ///< See RowWork.
    const std::vector<analysis::StmtId>& statements;
    const std::set<analysis::VariableId>& varying;
    const std::set<analysis::StmtId>& commonLoops;
};

/// Refuses with `rows-depend` where one row loads what another one stores.
[[nodiscard]] Gated<SharedLoads> sharedLoads(const SkillContext& context, const CopiedWork& work,
                                             int rows);

} // namespace kernelskill::skills
