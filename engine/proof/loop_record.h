/// A loop of the original as its effect on what it carries from round to round, so that a loop of
/// the candidate can be shown to do the same.
#pragma once

#include "engine/proof/terms.h"

#include <map>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// What a thread knows between two statements.
struct ThreadState {
    std::map<analysis::VariableId, Term> variables;
    std::map<std::string, Term> memories; ///< By name; "global" for what pointers lead to.
    Term effects = 0;                     ///< What the thread has done so far.
    Term path = 0;                        ///< Conditions of the statements around.
    Term alive = 0;                       ///< Whether the thread has not returned.
    Term inLoop = 0;                      ///< Whether it has not left the loop by `break`.
    Term inRound = 0;                     ///< Whether it has not left the round by `continue`.
};

struct LoopRecord {
    /// A variable or a memory that a round may change.
    struct Slot {
        Term before = 0; ///< Its value before the loop.
        Term symbol = 0; ///< Stands for its value when a round begins.
        Term after = 0;  ///< Its value after that round.
        Term out = 0;    ///< Stands for its value after the loop.
    };
    Term guard = 0;                        ///< Under what condition the loop is reached.
    bool testsLast = false;                ///< do ... while
    std::map<std::string, Slot> variables; ///< By name.
    std::map<std::string, Slot> memories;
    Term condition = 0;
    Term effects = 0; ///< Of a round.
    Term alive = 0;   ///< Whether the thread goes on after a round.
    Term inLoop = 0;
    bool isComplete = false;
};

using LoopRecords = std::vector<LoopRecord>;

} // namespace kernelskill::engine
